Gem::Specification.new do |s|
  s.name = "all"
  s.version = "2.1.0"
  s.summary = "Everything"
  s.authors = ["Someone"]
  s.required_ruby_version = ">= 3.2"
  s.add_dependency "core", "2.1.0"
  s.add_dependency "store", "2.1.0"
  s.add_dependency "web", "2.1.0"
end
