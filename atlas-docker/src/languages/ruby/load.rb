# Requires the test files that the patterns before `--` match, in the order of their names, in one
# process. A file that does not load is lost alone: its error is printed as Ruby itself would, the
# others run, and the process does not end well.
separator = ARGV.index("--") || ARGV.size
patterns = ARGV.shift(separator)
ARGV.shift
files = patterns.flat_map { |pattern| Dir[pattern].sort }.uniq.select { |path| File.file?(path) }
lost = []
at_exit { exit!(1) if $!.nil? && !lost.empty? || $!.is_a?(SystemExit) && $!.success? && !lost.empty? }
$stdout.sync = true
require_relative "report"
AtlasReport.open
files.each do |path|
  begin
    require File.expand_path(path)
  rescue ScriptError, StandardError => error
    lost << path
    place = error.backtrace || [path]
    # The words of RSpec, which parsers know. `warn` says nothing where a test's helper switched warnings off.
    $stderr.puts "An error occurred while loading ./#{path}."
    $stderr.puts "#{place.first}: #{error.message.lines.first.to_s.chomp} (#{error.class})"
    error.message.lines.drop(1).each { |line| $stderr.puts line }
    place.drop(1).first(20).each { |line| $stderr.puts "\tfrom #{line}" }
  end
end
abort "atlas: no test file matches #{patterns.join(' ')}" if files.empty?
AtlasReport.listen
