//! What is put into a container before it starts.

use super::context::USER;
use crate::engine::prelude::{LAID, OWN_FOLDER, Places, laid, newer, single_quoted};
use crate::engine::shell::SCRIPT;
use crate::engine::usage;
use atlas_core::{Environment, Error, ErrorKind, FileMode, Job, JobUser};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tar::{EntryType, Header};

/// Where a container of Podman notes that its memory limit killed something.
pub(super) const OOM_NOTE: &str = "/opt/atlas/out/.atlas-out-of-memory";

/// Seconds that a container whose job is done waits to be told that all it printed was read.
const READ_SECONDS: u32 = 300;

/// What a container's standard input is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nothing: Podman attaches none.
    Nothing,
    /// Two signals to the job: a line that lets it begin, and a line when all that it printed was read.
    Wait,
    /// These two signals, and between them a session's commands, one a line.
    Input,
}

/// The script that is a container's main process.
pub(super) fn begin_script() -> String {
    format!("/opt/atlas/in/{OWN_FOLDER}/begin.sh")
}

/// How long a container that was made ready waits for its job to begin: the job before it may take as
/// long as this one, and it was made ready at that one's beginning.
pub(super) fn waiting(job: &Job) -> Duration {
    const WEEK: u64 = 7 * 24 * 3600;
    let seconds = job.limits.seconds.saturating_mul(2).saturating_add(600);
    Duration::from_secs(seconds.min(WEEK))
}

/// What is put into the container before it starts: the state's files, the job's files, the script.
///
/// With [`Keeps::Nothing`], for Podman, the container itself notes a process lost to the memory limit, which that engine
/// misses, and neither waits to be told to begin nor ends by its reader, whom that engine waits for.
pub(super) fn layout(
    environment: &Environment,
    job: &Job,
    name: &str,
    keeps: Keeps,
) -> Result<Vec<u8>, Error> {
    let is_podman = keeps == Keeps::Nothing;
    let mut places = Places::container();
    if job.user != JobUser::Tests {
        "/root".clone_into(&mut places.home);
    }
    let exports = places.exports(&[&environment.plan.env, &job.env])?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let mut archive = Archive {
        tar: tar::Builder::new(Vec::new()),
        now,
        folders: BTreeSet::new(),
        owner: uid(job.user),
    };
    let own = format!("opt/atlas/in/{OWN_FOLDER}");
    let write = |archive: &mut Archive| -> std::io::Result<Vec<u8>> {
        archive.folder("opt/atlas/in")?;
        archive.folder("opt/atlas/out")?;
        for (path, content) in &job.overlay.write {
            // Folders are named one by one: the engine would make them as root, and a symbolic
            // link or a file in the place of a folder gives way to it.
            for (at, _) in path.match_indices('/') {
                archive.folder(&format!("testbed/{}", &path[..at]))?;
            }
            let path = format!("testbed/{path}");
            match content.mode {
                FileMode::Regular => archive.file(&path, 0o644, &content.bytes)?,
                FileMode::Executable => archive.file(&path, 0o755, &content.bytes)?,
                FileMode::Symlink => archive.link(&path, &content.bytes)?,
            }
        }
        for file in &job.files {
            let path = format!("opt/atlas/in/{}", file.name);
            archive.file(&path, 0o644, &file.bytes)?;
        }
        // Writing came first, so what was written stays: neither it nor a folder above it goes.
        let stays = |gone: &str| {
            let below = format!("{gone}/");
            job.overlay
                .write
                .range(gone.to_owned()..)
                .take_while(|(path, _)| path.starts_with(gone))
                .any(|(path, _)| path == gone || path.starts_with(&below))
        };
        let mut gone: Vec<u8> = Vec::new();
        for path in job.overlay.remove.iter().filter(|path| !stays(path)) {
            gone.extend_from_slice(path.as_bytes());
            gone.push(0);
        }
        // What runs the job belongs to another user than the job: it can be read, not rewritten.
        archive.owner = if job.user == JobUser::Tests { 0 } else { USER };
        archive.folder(&own)?;
        let begin = begin(job, is_podman);
        let script = match keeps {
            Keeps::Input => SCRIPT,
            Keeps::Nothing | Keeps::Wait => &job.script,
        };
        archive.file(&format!("{own}/begin.sh"), 0o644, begin.as_bytes())?;
        archive.file(&format!("{own}/remove"), 0o644, &gone)?;
        archive.file(&format!("{own}/script.sh"), 0o644, script.as_bytes())?;
        let mut changes = String::new();
        if !gone.is_empty() {
            let list = format!("{}/{OWN_FOLDER}/remove", places.input);
            changes =
                format!("while IFS= read -r -d '' path; do rm -rf -- \"$path\"; done <'{list}'\n");
        }
        if let Some(laid) = laid(&job.overlay) {
            archive.file(&format!("{own}/{LAID}"), 0o644, &laid)?;
            changes.push_str(&newer(&format!("{}/{OWN_FOLDER}/{LAID}", places.input)));
        }
        let run = run_script(&places, &exports, &changes, name, keeps);
        archive.file(&format!("{own}/run.sh"), 0o644, run.as_bytes())?;
        archive.tar.finish()?;
        Ok(std::mem::take(archive.tar.get_mut()))
    };
    write(&mut archive).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "lay out job",
            format!("`{}`", job.label),
        )
        .with_source(why)
    })
}

/// The number of a job's user. Environments of Atlas belong to [`USER`], those of others to root.
pub(super) fn uid(user: JobUser) -> u64 {
    match user {
        JobUser::Tests => USER,
        JobUser::BareRoot | JobUser::Root => 0,
    }
}

/// What a container prints when its job is done.
pub(super) fn end_mark(name: &str) -> String {
    format!("\u{1}atlas: the end of {name}\n")
}

/// Waits until the job may begin. It stops waiting when nobody is there any more to tell it, and what
/// then runs ends by itself shortly after its time limit, where nobody is left to kill it.
fn begin(job: &Job, is_podman: bool) -> String {
    let wait = if is_podman {
        "exec 9</dev/null".to_owned()
    } else {
        let seconds = waiting(job).as_secs();
        format!("exec 9<&0\nread -r -t {seconds} -u 9 _ || exit 125")
    };
    let seconds = job.limits.seconds.saturating_add(30);
    format!(
        "{wait}\nexec timeout -s KILL {seconds} bash '/opt/atlas/in/{OWN_FOLDER}/run.sh' </dev/null\n"
    )
}

/// One pipe for both streams keeps the order in which they were written.
///
/// Docker waits two seconds for its readers once a container has ended and then drops what is on its
/// way, so the container ends when it is told on its standard input that its last line was read.
fn run_script(places: &Places, exports: &str, changes: &str, name: &str, keeps: Keeps) -> String {
    let repo = single_quoted(&places.repo);
    let own = format!("{}/{OWN_FOLDER}", places.input);
    let input = match keeps {
        Keeps::Input => "<&9 ",
        Keeps::Nothing | Keeps::Wait => "",
    };
    let ending = if keeps == Keeps::Nothing {
        // Files of control groups, version 1 and 2.
        format!(
            "test $code = 0 || ! grep -qs '^oom_kill [1-9]' \
             /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events || \
             : > {OOM_NOTE}\n"
        )
    } else {
        let mark = end_mark(name);
        let mark = mark.trim_start_matches('\u{1}').trim_end();
        format!(
            "{}printf '\\001%s\\n%s\\n' '{mark}' \"$used\"\nread -r -t {READ_SECONDS} -u 9 _\n",
            usage::measure()
        )
    };
    format!(
        "exec 2>&1\n{exports}cd -- {repo} || exit 125\n{changes}\
         bash '{own}/script.sh' {input}9<&-\ncode=$?\n{ending}exit $code\n"
    )
}

struct Archive {
    tar: tar::Builder<Vec<u8>>,
    now: u64,
    folders: BTreeSet<String>,
    owner: u64,
}

impl Archive {
    fn header(&self, kind: EntryType, mode: u32, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(self.owner);
        header.set_gid(self.owner);
        header.set_mtime(self.now);
        header.set_size(size as u64);
        header
    }

    fn folder(&mut self, path: &str) -> std::io::Result<()> {
        if !self.folders.insert(path.to_owned()) {
            return Ok(());
        }
        let mut header = self.header(EntryType::Directory, 0o755, 0);
        self.tar.append_data(&mut header, path, std::io::empty())
    }

    fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
        let mut header = self.header(EntryType::Regular, mode, bytes.len());
        self.tar.append_data(&mut header, path, bytes)
    }

    fn link(&mut self, path: &str, target: &[u8]) -> std::io::Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let mut header = self.header(EntryType::Symlink, 0o777, 0);
        let target = std::path::Path::new(std::ffi::OsStr::from_bytes(target));
        self.tar.append_link(&mut header, path, target)
    }
}
