Gem::Specification.new do |spec|
  spec.name = "tidy"
  spec.version = "1.0.0"
  spec.summary = "tidy"
  spec.authors = ["t"]
  spec.required_ruby_version = ">= 2.7"
  spec.add_dependency "rack", ">= 2", "< 4"
end
