Gem::Specification.new do |s|
  s.name = "knot"
  s.version = "0.1"
  s.summary = "knot"
  s.authors = ["k"]
  s.add_development_dependency "bundler", "~> 1.6"
  s.add_development_dependency("minitest", "~> 5.4")
  s.add_development_dependency "rake"
end
