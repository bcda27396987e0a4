require "rspec"

RSpec.describe "printer" do
  it("works") { expect(1).to eq(1) }
end
