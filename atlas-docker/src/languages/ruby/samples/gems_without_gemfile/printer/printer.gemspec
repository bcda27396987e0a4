Gem::Specification.new do |s|
  s.name = "printer"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
  s.add_dependency "parser", "~> 2.0"
end
