//! Sessions in instances, the patches that are taken of them, and their verdicts.

use crate::docker::wanted;
use crate::eval_support::{image, made_here};
use crate::support::Place;
use atlas_core::{ExitState, Limits, RunContext, Step};
use atlas_pipeline::{Config, EngineChoice, Episodes, EvalOptions, EvalOutcome, PredictionSource};
use std::path::PathBuf;

async fn open(place: &Place, dataset: PathBuf, engine: EngineChoice) -> Episodes {
    let mut options = EvalOptions::new(dataset, PredictionSource::Null, "episodes");
    options.engine = engine;
    options.trust = true;
    options.out = place.path("runs");
    options.results = Some(place.path("results"));
    options.config = Config {
        local: atlas_pipeline::LocalConfig {
            root: Some(place.path("cache/atlas")),
            ..Default::default()
        },
        ..Config::default()
    };
    let session = Limits {
        seconds: 600,
        ..Limits::default()
    };
    Episodes::open(options, session).await.unwrap()
}

async fn work(episodes: &Episodes, id: &str) {
    let cx = RunContext::new("episodes");
    let mut episode = episodes.begin(&cx, id).await.unwrap();
    assert_eq!(episode.diff(&cx).await.unwrap(), "", "nothing was done yet");
    let run = Step::new(
        "sed -i 's/ if n > 0 else n//' calc/__init__.py && echo new >notes.txt && mkdir -p odd/__pycache__ && \
         printf '*.tmp\\n__pycache__/\\n' >.gitignore && echo x >scrap.tmp && echo x >odd/__pycache__/a.pyc && \
         git config core.fileMode false; git config diff.external true; ls tests",
    );
    let done = episode.step(&cx, &run).await.unwrap();
    assert_eq!(done.exit, ExitState::Exited { code: 0 }, "{done:?}");
    assert!(!String::from_utf8_lossy(&done.output).contains("negative"));
    let mut fork = match episode.fork(&cx).await {
        Ok(fork) => Some(fork),
        // Without walls there is one session at a time.
        Err(why) => {
            assert_eq!(
                why.kind(),
                atlas_core::ErrorKind::InvalidInput,
                "{}",
                why.chain()
            );
            None
        }
    };
    let patch = episode.diff(&cx).await.unwrap();
    let files: Vec<&str> = patch
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git a/")?.split(' ').next())
        .collect();
    assert_eq!(
        files,
        [".gitignore", "calc/__init__.py", "notes.txt"],
        "{patch}"
    );
    if let Some(fork) = &mut fork {
        let undo = Step::new(
            "git checkout -q calc/__init__.py; rm notes.txt; git rm -q tests/test_calc.py",
        );
        fork.step(&cx, &undo).await.unwrap();
        let other = fork.diff(&cx).await.unwrap();
        assert!(!other.contains("calc/__init__.py b"), "{other}");
        assert!(other.contains("deleted file mode"), "{other}");
        let verdict = episodes.grade(&cx, id, "fork", &other).await.unwrap();
        assert!(!verdict.resolved, "{verdict:?}");
    }
    let mut open = Some(episode);
    if fork.is_none()
        && let Some(episode) = open.take()
    {
        // Without walls a run waits until the session is closed.
        episode.close().await.unwrap();
    }
    let (one, other) = tokio::join!(
        episodes.grade(&cx, id, "one", &patch),
        episodes.grade(&cx, id, "other", &patch)
    );
    for verdict in [one.unwrap(), other.unwrap()] {
        assert_eq!(verdict.outcome, EvalOutcome::Graded);
        assert!(verdict.resolved, "{verdict:?}");
    }
    let empty = episodes.grade(&cx, id, "empty", "").await.unwrap();
    assert_eq!(empty.outcome, EvalOutcome::EmptyPatch);
    for episode in [fork, open].into_iter().flatten() {
        episode.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_is_made_in_a_session_and_graded() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let dataset = place.path("out/dataset.jsonl");
    let episodes = open(&place, dataset, EngineChoice::Local).await;
    assert_eq!(episodes.instances(), [id.as_str()]);
    work(&episodes, &id).await;
    let missing = episodes.begin(&RunContext::new("t"), "nobody-1").await;
    assert_eq!(missing.unwrap_err().kind(), atlas_core::ErrorKind::NotFound);
    drop(episodes);
    assert_eq!(place.leftovers(), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_others_is_worked_in_like_one_of_ours() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-episodes-{}", std::process::id());
    let id = image(&place, &name);
    let episodes = open(&place, place.path("rows.jsonl"), EngineChoice::Docker).await;
    work(&episodes, &id).await;
    crate::docker::docker(&["rmi", "-f", &name]);
}
