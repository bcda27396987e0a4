require "rspec"

RSpec.describe "parser" do
  it("works") { expect(1).to eq(1) }
end
