Gem::Specification.new do |s|
  s.name = "store"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
  s.add_dependency "core", "2.1.0"
  s.add_dependency "sqlite3"
end
