//! From a script to a command line: environment, walls and limits, the same for builds and jobs.

use super::walls::{Real, TOOLS, Walls};
use super::{LocalEngine, USUAL_PATH, process};
use crate::engine::prelude::{LAID, OWN_FOLDER, Places, newer, single_quoted};
use atlas_core::{Error, Limits};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Says from inside that the walls stood and the script began.
const BEGAN: &str = ".atlas-began";

/// One script to start.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) engine: &'a LocalEngine,
    pub(super) real: &'a Real,
    /// Folders of programs, first one first.
    pub(super) bins: &'a [PathBuf],
    /// More folders to read.
    pub(super) shared: &'a [PathBuf],
    /// Name that marks its processes.
    pub(super) mark: &'a str,
    pub(super) network: bool,
    /// Variables of the plan and the job.
    pub(super) variables: &'a [&'a BTreeMap<String, String>],
    /// Variables of the machine.
    pub(super) machine: &'a BTreeMap<String, String>,
    /// Lines of bash that run outside the walls, before them.
    pub(super) outside: String,
    /// Both output streams in one pipe.
    pub(super) one_stream: bool,
    pub(super) limits: &'a Limits,
    /// Folder below the temporary one to start in. Absent: the repository.
    pub(super) folder: Option<&'a str>,
    /// A command's first failure ends the script, as in a Dockerfile of the templates.
    pub(super) strict: bool,
    pub(super) script: &'a str,
}

impl Launch<'_> {
    /// Writes the script and makes the command.
    ///
    /// # Errors
    /// Unusable variables, a full disk.
    pub(super) fn command(&self) -> Result<Command, Error> {
        let walls = self.engine.walls();
        let places = match walls {
            Walls::Bubblewrap(_) => Places::container(),
            Walls::None => self.real.places(),
        };
        let own = self.real.input.join(OWN_FOLDER);
        fs::create_dir_all(&own).map_err(|why| Error::io("make", &own, why))?;
        let write = |name: &str, text: &str| {
            let path = own.join(name);
            fs::write(&path, text).map_err(|why| Error::io("write", &path, why))
        };
        let temporary = match walls {
            Walls::Bubblewrap(_) => "/tmp".to_owned(),
            Walls::None => self.real.temporary.to_string_lossy().into_owned(),
        };
        let mut run = format!(": >{}\n", single_quoted(&format!("{temporary}/{BEGAN}")));
        if let Walls::Bubblewrap(_) = walls {
            // Counted within the user namespace; without one it would count all of this user's.
            let _ = writeln!(run, "ulimit -u {} 2>/dev/null", self.limits.processes);
        }
        run.push_str(&places.exports(self.variables)?);
        let begin = match self.folder {
            Some(folder) => format!("{temporary}/{folder}"),
            None => places.repo.clone(),
        };
        let _ = writeln!(run, "cd -- {} || exit 125", single_quoted(&begin));
        if own.join(LAID).exists() {
            run.push_str(&newer(&format!("{}/{OWN_FOLDER}/{LAID}", places.input)));
        }
        let script = format!("{}/{OWN_FOLDER}/script.sh", places.input);
        let strict = if self.strict { " -eo pipefail" } else { "" };
        let _ = writeln!(run, "exec bash{strict} {}", single_quoted(&script));
        write("run.sh", &run)?;
        write("script.sh", self.script)?;
        write(PASSWD.0, PASSWD.1)?;
        write(HOSTS.0, HOSTS.1)?;

        let mut outside = self.outside.clone();
        if self.one_stream {
            outside.push_str("exec 2>&1\n");
        }
        outside.push_str("ulimit -c 0 2>/dev/null\n");
        if self.limits.file_bytes < u64::MAX {
            let blocks = self.limits.file_bytes.div_ceil(1024);
            let _ = writeln!(outside, "ulimit -f {blocks} 2>/dev/null");
        }
        outside.push_str("exec \"$@\"\n");
        let mut line: Vec<OsString> = ["bash", "-c", &outside, "atlas"].map(OsString::from).into();
        let run = format!("{}/{OWN_FOLDER}/run.sh", places.input);
        if let Walls::Bubblewrap(bwrap) = walls {
            line.extend(bwrap.command(self.real, self.shared, self.network, &own));
        }
        line.extend(["bash", &run].map(OsString::from));

        let mut command = process::command(&line);
        command
            .current_dir(&self.real.repo)
            .env("PATH", self.path(walls))
            .env("HOME", &places.home)
            .env("USER", "atlas")
            .env("LOGNAME", "atlas")
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", &temporary)
            .envs(self.machine)
            .env(process::MARK, self.mark);
        Ok(command)
    }

    /// Whether the script began; if not, what was printed comes from the walls.
    pub(super) fn began(real: &Real) -> bool {
        real.temporary.join(BEGAN).exists()
    }

    fn path(&self, walls: &Walls) -> String {
        let tools = match walls {
            Walls::Bubblewrap(_) => PathBuf::from(TOOLS),
            Walls::None => self.real.tools.clone(),
        };
        let mut parts = vec![tools.to_string_lossy().into_owned()];
        parts.extend(
            self.bins
                .iter()
                .map(|bin| bin.to_string_lossy().into_owned()),
        );
        parts.push(USUAL_PATH.to_owned());
        parts.join(":")
    }
}

/// A file of `/etc`, and its text.
pub(super) const PASSWD: (&str, &str) = (
    "passwd",
    "atlas:x:1000:1000:atlas:/home/atlas:/bin/bash\n\
                      nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
);

/// The names that a machine without a network knows.
pub(super) const HOSTS: (&str, &str) = (
    "hosts",
    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.0.1\tatlas\n",
);

/// Makes folders that a script needs.
pub(super) fn make_folders(folders: &[&Path]) -> Result<(), Error> {
    for folder in folders {
        fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
    }
    Ok(())
}
