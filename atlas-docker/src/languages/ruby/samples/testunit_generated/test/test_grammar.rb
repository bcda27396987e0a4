require "test/unit"

class TestGrammar < Test::Unit::TestCase
  def test_one
    assert true
  end
end
