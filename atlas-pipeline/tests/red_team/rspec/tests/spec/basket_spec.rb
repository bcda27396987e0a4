require "basket"

RSpec.describe Basket do
  it "adds the prices" do
    expect(Basket.new([1, 2, 3]).total).to eq(6)
  end

  it "counts the prices" do
    expect(Basket.new([1, 2, 3]).count).to eq(3)
  end

  it "takes a discount off" do
    expect(Basket.new([100, 100]).total(10)).to eq(180)
  end
end
