# Writes each result of minitest or test-unit down beside the console as it comes, as JUnit XML, whatever reporter
# a project has. A forked process writes nothing.
module AtlasReport
  # Opened now: tests may put something else in the place of files.
  REPORT = ENV["ATLAS_OUT"] && File.open(File.join(ENV["ATLAS_OUT"], "junit.xml"), "a")
  REPORT.sync = true if REPORT
  OWNER = Process.pid
  def self.write(text)
    REPORT.write(text) if REPORT && Process.pid == OWNER
  end
  def self.note(suite, name, inside)
    suite, name = [suite, name].map do |text|
      text.to_s.encode("UTF-8", invalid: :replace, undef: :replace).scrub.tr("\0-\x08\x0b\x0c\x0e-\x1f", "?").encode(xml: :attr)
    end
    write("<testcase classname=#{suite} name=#{name}>#{inside}</testcase>\n")
  end
  # minitest 5 and later.
  module Minitest
    def record(result)
      super
      suite = result.respond_to?(:klass) ? result.klass : result.class
      AtlasReport.note(suite, result.name, result.skipped? ? "<skipped/>" : result.passed? ? "" : "<failure/>")
    end
  end
  # test-unit.
  module TestUnit
    def run(*)
      faults = Hash.new { |all, name| all[name] = [] }
      add_listener(::Test::Unit::TestResult::FAULT) { |fault| faults[fault.test_name] << fault.class.name[/\w+\z/] }
      add_listener(::Test::Unit::TestCase::FINISHED_OBJECT) do |test|
        kinds = faults.delete(test.name) || []
        failed = kinds.any? { |kind| %w[Failure Error].include?(kind) }
        idle = kinds.any? { |kind| %w[Omission Pending].include?(kind) }
        AtlasReport.note(test.class.name, test.name.sub(/\([^()]*\)\z/, ""), failed ? "<failure/>" : idle ? "<skipped/>" : "")
      end
      super
    end
  end
  # Before the tests are loaded, so that it ends after they ran.
  def self.open
    write("<testsuite>\n")
    at_exit { write("</testsuite>\n") }
  end
  # When the tests are loaded, and their runner with them.
  def self.listen
    ::Minitest::CompositeReporter.prepend(Minitest) if defined?(::Minitest::CompositeReporter)
    return unless defined?(::Test::Unit::AutoRunner)
    require "test/unit/ui/testrunnermediator"
    ::Test::Unit::UI::TestRunnerMediator.prepend(TestUnit)
  end
end
