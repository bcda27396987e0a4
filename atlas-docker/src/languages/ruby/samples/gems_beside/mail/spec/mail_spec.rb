RSpec.describe "mail" do
  it("works") { expect(1).to eq(1) }
end
