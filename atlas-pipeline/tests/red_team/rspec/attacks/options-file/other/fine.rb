RSpec.describe "Basket" do
  it("takes a discount off") {}
end
