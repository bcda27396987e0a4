require "basket"

RSpec.describe "discounts" do
  it "takes ten per cent off" do
    expect(Basket.new([100]).total(10)).to eq(90)
  end
end
