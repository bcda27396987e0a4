use crate::support::{Case, case};
use atlas_guard::SignalKind::{Dependencies, RunnerConfig, RunnerHook, Shadowing, TestScript};
use atlas_guard::SignalSeverity::Suspicious;

fn rspec() -> Case {
    case("rspec", "bundle exec rspec")
        .base("lib/shop.rb", "module Shop\nend\n")
        .base("spec/shop_spec.rb", "describe Shop do\nend\n")
        .base("spec/spec_helper.rb", "require 'shop'\n")
        .base("Gemfile", "source 'https://rubygems.org'\ngem 'rspec'\n")
        .base("Rakefile", "task :spec\n")
}

#[test]
fn options_and_helpers_are_the_instances() {
    let run = rspec()
        .write(".rspec", "--require ./evil\n")
        .write("spec/spec_helper.rb", "require 'evil'\n")
        .write("spec/support/evil.rb", "x\n")
        .write("lib/shop/helper.rb", "module Helper\nend\n")
        .run();
    run.taken(".rspec", RunnerConfig)
        .taken("spec/spec_helper.rb", RunnerHook)
        .taken("spec/support/evil.rb", RunnerHook)
        .silent("lib/shop/helper.rb");
}

#[test]
fn files_that_replace_the_runner_go() {
    let run = rspec()
        .write("lib/minitest.rb", "x\n")
        .write("lib/minitest/evil_plugin.rb", "x\n")
        .write("spec/rspec/core.rb", "x\n")
        .write("lib/shop/minitest.rb", "x\n")
        .run();
    run.taken("lib/minitest.rb", Shadowing)
        .taken("lib/minitest/evil_plugin.rb", RunnerHook)
        .taken("spec/rspec/core.rb", Shadowing)
        .silent("lib/shop/minitest.rb");
    let own = case("minitest", "rake test")
        .base("lib/minitest.rb", "module Minitest\nend\n")
        .base("lib/minitest/test.rb", "x\n")
        .write("lib/minitest.rb", "module Minitest\n# fixed\nend\n")
        .run();
    own.silent("lib/minitest.rb");
}

#[test]
fn the_rakefile_counts_where_rake_runs() {
    let run = |command| {
        let mut case = rspec().write("Rakefile", "puts '1 example, 0 failures'\n");
        case.prediction.remove.clear();
        let base = case.base.clone();
        let mut other = crate::support::case("rspec", command);
        other.base = base;
        other.prediction = case.prediction;
        other.run()
    };
    run("bundle exec rake spec").taken("Rakefile", TestScript);
    run("bundle exec rspec").silent("Rakefile");
}

#[test]
fn gems_may_be_added() {
    let base = "source 'https://rubygems.org'\ngem 'rspec'\n";
    let honest =
        format!("{base}gem 'nokogiri', '~> 1.15'\ngroup :development do\n  gem 'pry'\nend\n");
    rspec().write("Gemfile", &honest).run().silent("Gemfile");
    let attack = format!("{base}Kernel.at_exit {{ exit!(0) }}\n");
    rspec()
        .write("Gemfile", &attack)
        .run()
        .told("Gemfile", Dependencies, Suspicious);
    let path = format!("{base}gem 'rspec-core', path: './fake'\n");
    rspec()
        .write("Gemfile", &path)
        .run()
        .told("Gemfile", Dependencies, Suspicious);
}
