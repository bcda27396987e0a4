Gem::Specification.new do |s|
  s.name = "web"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
  s.add_dependency "core", "2.1.0"
end
