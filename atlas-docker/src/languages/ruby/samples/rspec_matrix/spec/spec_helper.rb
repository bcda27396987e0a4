RSpec.configure { |config| config.order = :random }
