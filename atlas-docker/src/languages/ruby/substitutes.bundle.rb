# Where no gem registry can be reached: a Gemfile of those gems of the project that Debian's packages
# have brought, whatever their version, and a `bundle` that uses it. The project's own gems are
# put on the load path instead, since their requirements may name versions that are not here.
require "bundler"
require "fileutils"
require "shellwords"

home = ENV.fetch("ATLAS_ENV")
repository = ENV.fetch("ATLAS_REPO")
wanted = {}
paths = [File.expand_path("lib")]
own = []

add = lambda do |name, requirement, autorequire|
  wanted[name] ||= [requirement, autorequire]
end
take = lambda do |gemspec, development|
  specification = Bundler.load_gemspec(Pathname(gemspec))
  next unless specification
  own << specification.name
  specification.require_paths.each { |path| paths << File.expand_path(path, File.dirname(gemspec)) }
  specification.dependencies.each do |dependency|
    add.call(dependency.name, dependency.requirement, nil) if development || dependency.runtime?
  end
end

begin
  definition = Bundler::Dsl.evaluate(Bundler.default_gemfile, Bundler.default_lockfile, {})
  definition.dependencies.each do |dependency|
    next unless dependency.should_include?
    source = dependency.source
    if source.instance_of?(Bundler::Source::Path)
      folder = File.expand_path(source.path.to_s, File.dirname(Bundler.default_gemfile.to_s))
      Dir[File.join(folder, "{,*/}#{dependency.name}.gemspec")].each { |path| take.call(path, false) }
      own << dependency.name
    else
      add.call(dependency.name, dependency.requirement, dependency.autorequire)
    end
  end
rescue ScriptError, StandardError => error
  warn "atlas: the Gemfile is not readable here: #{error.message.lines.first}"
end
Dir["*.gemspec"].sort.each do |path|
  begin
    take.call(path, true)
  rescue ScriptError, StandardError => error
    warn "atlas: #{path} is not readable here: #{error.message.lines.first}"
  end
end
ARGV.each { |name| add.call(name, Gem::Requirement.default, nil) }
own.each { |name| wanted.delete(name) }

# Whether a gem is here with all that it needs.
state = {}
usable = lambda do |name|
  next state[name] if state.key?(name)
  state[name] = true
  specification = Gem::Specification.find_all_by_name(name).max_by(&:version)
  state[name] = !specification.nil? && specification.runtime_dependencies.all? do |dependency|
    Gem::Specification.find_all_by_name(dependency.name, dependency.requirement).any? && usable.call(dependency.name)
  end
end

# Tools that only measure coverage, and the constants that tests' helpers use of them.
coverage = {
  "codeclimate-test-reporter" => %w[codeclimate-test-reporter CodeClimate],
  "codecov" => %w[codecov Codecov],
  "coveralls" => %w[coveralls Coveralls],
  "coveralls_reborn" => %w[coveralls Coveralls],
  "simplecov" => %w[simplecov SimpleCov],
}
# The file of a gem that sources require and name nothing of, as a helper does with a runner's plugin: an empty
# one does. What needs more of it fails for want of a method, and not all that loads the helper.
texts = Dir["**/*.{rb,rake}", "Rakefile"].reject { |path| path.start_with?("vendor/") }.map do |path|
  File.file?(path) ? File.binread(path) : ""
end
only_required = lambda do |name|
  file = name.tr("-", "/")
  constant = file.split("/").map { |part| part.split("_").map(&:capitalize).join }.join("::")
  word = /^\s*require\s*\(?\s*["']#{Regexp.escape(file)}["']/n
  file if texts.any? { |text| text.match?(word) } && texts.none? { |text| text.include?(constant) }
end
stubs = File.join(home, "stubs")
lines = ["source \"https://rubygems.org\""]
wanted.sort.each do |name, (requirement, autorequire)|
  if usable.call(name)
    version = Gem::Specification.find_all_by_name(name).map(&:version).max
    warn "atlas: gem #{name} #{version} instead of #{requirement}" unless requirement.satisfied_by?(version)
    lines << "gem #{name.inspect}#{", require: #{autorequire.inspect}" unless autorequire.nil?}"
  elsif coverage.key?(name)
    file, constant = coverage[name]
    FileUtils.mkdir_p(stubs)
    File.write(File.join(stubs, "#{file}.rb"), <<~RUBY)
      module #{constant}
        def self.const_missing(_) = self
        def self.method_missing(*) = self
        def self.respond_to_missing?(*) = true
        def self.new(*) = self
      end
    RUBY
    warn "atlas: gem #{name} is not here: coverage is not measured"
  elsif (file = only_required.call(name))
    FileUtils.mkdir_p(File.join(stubs, File.dirname(file)))
    File.write(File.join(stubs, "#{file}.rb"), "")
    note = "gem #{name} is not here: it is required and nothing of it is named"
    warn "atlas: #{note}"
    File.write(File.join(home, "drift"), "#{note}\n", mode: "a")
  else
    warn "atlas: gem #{name} is not here"
  end
end
# What Debian's Ruby and its packages bring besides is there without bundler, so it is with it.
(Gem::Specification.map(&:name).uniq - wanted.keys - own - ["bundler"]).sort.each do |name|
  lines << "gem #{name.inspect}, require: false" if usable.call(name)
end
gemfile = File.join(home, "debian", "Gemfile")
FileUtils.mkdir_p([File.dirname(gemfile), File.join(home, "bin")])
File.write(gemfile, lines.join("\n") << "\n")

paths << stubs if File.directory?(stubs)
paths = paths.uniq.select { |path| File.directory?(path) }
place = paths.map do |path|
  path == repository || path.start_with?("#{repository}/") ? "$ATLAS_REPO#{path[repository.size..]}" : path
end
variables = { "BUNDLE_GEMFILE" => gemfile, "RUBYLIB" => paths.join(":") }
bundles = system(variables, "/usr/bin/bundle", "install", "--local", "--quiet")
warn "atlas: bundler finds no set of these gems: they are used without it" unless bundles
last = if bundles
         "export BUNDLE_GEMFILE=\"$ATLAS_ENV/debian/Gemfile\"\nexec /usr/bin/bundle \"$@\"\n"
       else
         "[ \"$1\" != exec ] || shift\nexec \"$@\"\n"
       end
shim = File.join(home, "bin", "bundle")
FileUtils.rm_f(shim)
File.write(shim, "#!/bin/sh\n[ \"$1\" != install ] || exec /usr/local/bin/bundle \"$@\"\nexport RUBYLIB=\"#{place.join(':')}\"\n#{last}", perm: 0o755)
