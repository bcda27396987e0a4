Gem::Specification.new do |s|
  s.name = "queue"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
  s.add_development_dependency "rspec", "~> 3.13"
end
