Gem::Specification.new do |s|
  s.name = "mail"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
  s.add_dependency "web", "2.1.0"
end
