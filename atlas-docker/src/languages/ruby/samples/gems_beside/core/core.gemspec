Gem::Specification.new do |s|
  s.name = "core"
  s.version = "2.1.0"
  s.summary = "Part"
  s.authors = ["Someone"]
end
