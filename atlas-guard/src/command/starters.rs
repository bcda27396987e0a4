//! Programs that start another one: which of their words are the command, the script or the text that is meant.
//!
//! One table for helpers of the environment (`timeout`, `xvfb-run`, `bundle exec`), for interpreters and for words of
//! the shell: behind each of them stands what may be a file of the repository.

/// A program, and how its command line is read.
#[derive(Clone, Copy, Debug)]
struct Starter {
    /// Its names, between spaces; all fields of several words are.
    names: &'static str,
    /// First words of which one has to stand before what is started: `exec` of `bundle exec`.
    verbs: &'static str,
    /// Options that take the next word as their value.
    valued: &'static str,
    /// Options whose value is the folder that the command runs in.
    folders: &'static str,
    /// Options whose value a shell reads.
    texts: &'static str,
    /// Options that say that the first plain word is a text for a shell.
    text_flags: &'static str,
    /// Options whose value is a module of Python, which the words behind it are for.
    modules: &'static str,
    /// Options whose value is a script.
    files: &'static str,
    /// Options whose value is code: no file is started.
    codes: &'static str,
    /// Plain words before what is started.
    operands: usize,
    /// Whether a `--`, where there is one, stands right before what is started.
    dashes: bool,
    leads: Leads,
}

/// What the first plain word begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    Command,
    Script,
    /// All words together are a text for a shell.
    Text,
    /// Each word is a text for a shell.
    Texts,
    /// A folder, then targets of make.
    Make,
}

const fn starter(names: &'static str, leads: Leads) -> Starter {
    Starter {
        names,
        verbs: "",
        valued: "",
        folders: "",
        texts: "",
        text_flags: "",
        modules: "",
        files: "",
        codes: "",
        operands: 0,
        dashes: false,
        leads,
    }
}

const fn command(names: &'static str) -> Starter {
    starter(names, Leads::Command)
}

const fn interpreter(names: &'static str) -> Starter {
    starter(names, Leads::Script)
}

/// Where a name stands twice, the first that fits counts.
const STARTERS: &[Starter] = &[
    // Words of the shell.
    command("then do else elif if while until ! { builtin"),
    Starter {
        valued: "-a",
        ..command("exec")
    },
    command(
        "command nohup setsid chronic unbuffer eatmydata catchsegv ts fakeroot winpty rlwrap tini dumb-init",
    ),
    starter("eval cross-env-shell", Leads::Text),
    Starter {
        valued: "-n --names -c --prefix-colors -p --prefix -l --prefix-length -s --success -m --max-processes",
        ..starter("concurrently", Leads::Texts)
    },
    // Limits, priorities, users.
    Starter {
        valued: "-u --unset -P -a --argv0",
        folders: "-C --chdir",
        texts: "-S --split-string",
        ..command("env genv")
    },
    Starter {
        valued: "-k --kill-after -s --signal",
        operands: 1,
        ..command("timeout gtimeout")
    },
    Starter {
        valued: "-n --adjustment",
        ..command("nice")
    },
    Starter {
        valued: "-c --class -n --classdata -p --pid",
        ..command("ionice")
    },
    Starter {
        valued: "-T --sched-runtime -P --sched-period -D --sched-deadline",
        operands: 1,
        ..command("chrt")
    },
    Starter {
        operands: 1,
        ..command("taskset chroot gosu su-exec faketime kcov")
    },
    Starter {
        valued: "-i --input -o --output -e --error",
        ..command("stdbuf")
    },
    Starter {
        valued: "-f --format -o --output",
        ..command("time gtime")
    },
    Starter {
        valued: "-u --user -g --group -h --host -p --prompt -C --close-from -R --chroot -T --command-timeout -r --role \
                 -t --type -U --other-user",
        folders: "-D --chdir",
        ..command("sudo doas")
    },
    Starter {
        valued: "-s --shell -g --group -G --supp-group -w --whitelist-environment -u --user",
        texts: "-c --command",
        operands: 1,
        ..command("su runuser")
    },
    Starter {
        valued: "-w --timeout --wait -E --conflict-exit-code",
        texts: "-c --command",
        operands: 1,
        ..command("flock")
    },
    Starter {
        valued: "-E --echo -I --log-in -O --log-out -B --log-io -T --log-timing -m --logging-format -o --output-limit",
        texts: "-c --command",
        operands: 1,
        ..command("script")
    },
    Starter {
        valued: "-t --times -d --delay -m --max --until --while --message",
        ..command("retry")
    },
    Starter {
        valued: "-n --max-args -P --max-procs -L --max-lines -I --replace -s --max-chars -d --delimiter -a --arg-file -E",
        ..command("xargs")
    },
    Starter {
        valued: "-o --output -e --trace -p --attach -s --string-limit -u --user -E --env -a -P -S -b -I -O -X",
        ..command("strace ltrace")
    },
    Starter {
        valued: "-ex -iex -x",
        ..command("gdb valgrind")
    },
    Starter {
        dashes: true,
        operands: 1,
        valued: "-t --timeout",
        ..command("wait-for-it wait-for-it.sh wait-for")
    },
    // Screens and buses.
    Starter {
        valued: "-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait",
        ..command("xvfb-run xvfb-maybe")
    },
    Starter {
        valued: "--config-file --dbus-daemon",
        ..command("dbus-run-session dbus-launch")
    },
    // Environments of languages.
    Starter {
        verbs: "run",
        folders: "-C --directory",
        valued: "-P --project",
        ..command("poetry")
    },
    Starter {
        verbs: "run",
        folders: "--directory",
        modules: "-m --module",
        valued: "--with -w --with-editable --with-requirements --extra --no-extra --group --no-group --only-group -p --python \
                 --package --env-file --project --index --default-index -i --index-url --extra-index-url -f --find-links \
                 --cache-dir --config-file --color -P --upgrade-package --reinstall-package --refresh-package --resolution \
                 --prerelease --exclude-newer --link-mode -C --config-setting --python-platform --index-strategy \
                 --keyring-provider",
        ..command("uv")
    },
    Starter {
        valued: "--from --with -w --with-editable --with-requirements -p --python --index --default-index",
        ..command("uvx")
    },
    Starter {
        verbs: "run",
        valued: "--spec --python --pip-args",
        ..command("pipx")
    },
    Starter {
        verbs: "run",
        valued: "-p --project -e --env --environment --manifest-path -n --name --prefix --python",
        folders: "--cwd",
        ..command("pdm pipenv hatch rye pixi conda mamba micromamba")
    },
    Starter {
        verbs: "exec",
        valued: "-e",
        dashes: true,
        ..command("tox opam")
    },
    Starter {
        verbs: "exec x",
        dashes: true,
        ..command("mise rtx")
    },
    Starter {
        verbs: "exec",
        valued: "--gemfile",
        ..command("bundle bundler")
    },
    Starter {
        verbs: "exec",
        ..command("rbenv pyenv nodenv goenv jenv asdf")
    },
    Starter {
        verbs: "exec",
        operands: 1,
        ..command("direnv")
    },
    Starter {
        verbs: "run exec",
        dashes: true,
        ..command("doppler op infisical chamber aws-vault")
    },
    Starter {
        texts: "--run --command",
        valued: "-p --packages -A --attr -I",
        operands: usize::MAX,
        ..command("nix-shell")
    },
    // Those of JavaScript.
    Starter {
        texts: "-c --call",
        valued: "-p --package -w --workspace --prefix",
        ..command("npx bunx pnpx")
    },
    Starter {
        verbs: "exec x dlx node",
        texts: "-c --call",
        valued: "-p --package -w --workspace --filter -F",
        folders: "--prefix -C --dir --cwd",
        ..command("npm pnpm yarn")
    },
    command("cross-env corepack"),
    Starter {
        verbs: "run",
        valued: "-f --file -q --quote -e -c -p -v",
        ..command("dotenv")
    },
    Starter {
        valued: "-e -c -p -v -f --file -r --rc-file --environments",
        ..command("dotenv dotenvx env-cmd")
    },
    Starter {
        valued: "-r --reporter -x --exclude -n --include -i --require -e --extension -t --temp-dir --temp-directory \
                 --report-dir -o --reports-dir --cwd -c --config --nycrc-path --src --branches --functions --lines --statements",
        ..command("nyc c8")
    },
    // Programs of Atlas's own toolbox.
    Starter {
        modules: "-m",
        ..interpreter("named.py unittest-two.py")
    },
    Starter {
        operands: 1,
        ..starter("make.sh", Leads::Make)
    },
    // What measures programs of Python.
    Starter {
        verbs: "run",
        modules: "-m --module",
        valued: "--rcfile --source --source-pkg --include --omit --concurrency --context --data-file --debug --save-signal",
        ..interpreter("coverage")
    },
    Starter {
        verbs: "run",
        modules: "-m",
        valued: "-o --output -p --live-port",
        ..interpreter("memray")
    },
    Starter {
        modules: "-m --module",
        valued: "-o --outfile -s --sort -f --file -C --coverdir --ignore-module --ignore-dir --source --omit --include --out \
                 --threshold --json --listen --connect",
        codes: "-c",
        ..interpreter(
            "cProfile profile trace pdb slipcover viztracer kernprof debugpy pyinstrument",
        )
    },
    command("ddtrace-run opentelemetry-instrument"),
    // Interpreters.
    Starter {
        modules: "-m",
        codes: "-c",
        valued: "-W -X -Q --check-hash-based-pycs",
        ..interpreter("python pypy ipython")
    },
    Starter {
        text_flags: "-c",
        valued: "-o -O --rcfile --init-file",
        ..interpreter("bash sh dash zsh ksh ash")
    },
    interpreter("source ."),
    Starter {
        codes: "-e --eval -p --print",
        valued: "-r --require --import --loader --experimental-loader -C --conditions --env-file --test-reporter \
                 --test-reporter-destination --test-name-pattern --title --input-type -P --project -O --compilerOptions \
                 --tsconfig",
        ..interpreter("node ts-node tsx babel-node ts-node-esm")
    },
    Starter {
        verbs: "x",
        ..command("bun")
    },
    Starter {
        verbs: "run test",
        valued: "-r --require --preload --config -c",
        ..interpreter("deno bun")
    },
    Starter {
        valued: "-r --require --preload --config -c",
        codes: "-e --eval",
        ..interpreter("bun")
    },
    Starter {
        codes: "-e",
        valued: "-I -r -E --encoding",
        folders: "-C",
        ..interpreter("ruby jruby")
    },
    Starter {
        codes: "-r",
        files: "-f --file",
        valued: "-d --define -c --php-ini -z --zend-extension -t --docroot -S --server",
        ..interpreter("php")
    },
    interpreter("phpdbg"),
    Starter {
        codes: "-e -E",
        valued: "-I -M -m",
        ..interpreter("perl")
    },
    Starter {
        codes: "-e -E --eval --print",
        files: "-File",
        valued: "-l -C --project --load",
        ..interpreter("lua luajit Rscript julia tclsh pwsh powershell elixir escript")
    },
];

/// What a command starts beyond its own program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Started<'a> {
    /// The folder that it is started in, where an option says so.
    pub(super) folder: Option<&'a str>,
    pub(super) what: What<'a>,
}

/// What is started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// Nothing that is a file.
    #[default]
    Nothing,
    /// The command of these words.
    Command(&'a [String]),
    /// Python runs this module, and gives it these words.
    Module(&'a str, &'a [String]),
    /// This file, with what it is given.
    Script(&'a str, &'a [String]),
    /// What shells read.
    Texts(Vec<String>),
    /// Targets of the Makefile in a folder, the first of these words.
    Make(&'a [String]),
}

/// What the program of this name starts; nothing for one that starts no other.
pub(super) fn started<'a>(name: &str, words: &'a [String]) -> Option<Started<'a>> {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_named = |starter: &&Starter| has(starter.names, name) || has(starter.names, plain);
    STARTERS
        .iter()
        .filter(is_named)
        .find_map(|starter| starter.read(words))
}

fn has(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|one| one == word)
}

/// Where an option's value stands.
enum Value<'a> {
    /// It takes none.
    None,
    /// In its own word.
    Own(&'a str),
    /// It is the next word.
    Next,
}

impl Starter {
    fn read<'a>(&self, words: &'a [String]) -> Option<Started<'a>> {
        let mut found = Started::default();
        let mut is_text = false;
        let mut verb_is_due = !self.verbs.is_empty();
        let mut operands = self.operands;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word == "--" {
                at += 1;
                // What had to stand before is behind it then.
                if operands == 0 || self.dashes {
                    break;
                }
            } else if word == "-" || word == "$()" {
                // Standard input, and options that another command tells.
                at += 1;
            } else if word.starts_with(['-', '+']) {
                let (option, value) = self.option(word);
                is_text |= self.is_text_flag(word);
                let value = match value {
                    Value::None => None,
                    Value::Own(value) => Some(value),
                    Value::Next => {
                        at += 1;
                        words.get(at).map(String::as_str)
                    }
                };
                at += 1;
                if has(self.codes, option) {
                    return Some(found);
                }
                let Some(value) = value else { continue };
                if has(self.folders, option) {
                    found.folder = Some(value);
                } else if has(self.texts, option) {
                    found.what = What::Texts(vec![value.to_owned()]);
                    return Some(found);
                } else if has(self.modules, option) && !verb_is_due {
                    found.what = What::Module(value, &words[at..]);
                    return Some(found);
                } else if has(self.files, option) {
                    found.what = What::Script(value, &words[at..]);
                    return Some(found);
                }
            } else if verb_is_due {
                // `bundle _2.4.1_ exec` names a version first.
                let is_version = word.starts_with('_') && word.ends_with('_');
                if !is_version && !has(self.verbs, word) {
                    return None;
                }
                verb_is_due = is_version;
                at += 1;
            } else if operands > 0 {
                operands -= 1;
                at += 1;
            } else {
                break;
            }
        }
        if verb_is_due {
            return None;
        }
        let behind = words.iter().position(|word| word == "--");
        if let Some(behind) = behind.filter(|_| self.dashes) {
            at = behind + 1;
        }
        let rest = words.get(at..).unwrap_or_default();
        let Some((first, more)) = rest.split_first() else {
            return Some(found);
        };
        found.what = match self.leads {
            _ if is_text => What::Texts(vec![first.clone()]),
            Leads::Command => What::Command(rest),
            Leads::Script => What::Script(first, more),
            Leads::Text => What::Texts(vec![rest.join(" ")]),
            Leads::Texts => What::Texts(rest.to_vec()),
            Leads::Make => What::Make(rest),
        };
        Some(found)
    }

    /// Options that take a value.
    fn with_values(&self) -> impl Iterator<Item = &'static str> {
        let lists = [
            self.valued,
            self.folders,
            self.texts,
            self.modules,
            self.files,
            self.codes,
        ];
        lists.into_iter().flat_map(str::split_whitespace)
    }

    /// The option that a word holds and where its value stands: `--kill-after=5`, `-k 5`, `-k5`, `-vk 5`.
    fn option<'a>(&self, word: &'a str) -> (&'a str, Value<'a>) {
        if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            return (name, Value::Own(value));
        }
        if self.with_values().any(|known| known == word) {
            return (word, Value::Next);
        }
        if word.starts_with("--") {
            return (word, Value::None);
        }
        for (at, letter) in word.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let known = self
                .with_values()
                .find(|known| known.len() == 1 + letter.len_utf8() && known.ends_with(letter));
            if let Some(known) = known {
                let value = match &word[end..] {
                    "" => Value::Next,
                    value => Value::Own(value),
                };
                return (known, value);
            }
        }
        (word, Value::None)
    }

    /// Whether a word of options says that a text follows: `-c`, `-ec`, `-ceu`.
    fn is_text_flag(&self, word: &str) -> bool {
        word.starts_with('-')
            && !word.starts_with("--")
            && self
                .text_flags
                .split_whitespace()
                .filter_map(|flag| flag.chars().last())
                .any(|flag| word.contains(flag))
    }
}
