//! Pages, read as a browser reads them.

use atlas_report::{Overview, PullRequest, Share, StageCost, overview};
use html5ever::tendril::TendrilSink as _;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// Texts that would be markup, script or an address where they are not text.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</SCRIPT ><img src=x onerror=alert(1)>",
    "<!--<script>",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "\" onmouseover=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "\"><script>alert(1)</script>",
    "'><iframe src=javascript:alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<base href=//x.example/>",
    "<meta http-equiv=refresh content=0;url=//x.example>",
    "<link rel=stylesheet href=//x.example>",
    "<style>@import '//x.example'</style>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=//x.example>",
    "<form action=javascript:alert(1)><button>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "\u{2028}alert(1)\u{2029}",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "{{ 7 * 7 }}{% for x in y %}",
    "\0\u{7}\u{1b}[31m<script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
];

fn model(texts: &[&str]) -> Overview {
    let text = |at: usize| texts[at % texts.len()].to_owned();
    let share = |at: usize| Share {
        name: text(at),
        of: 3,
        left: 2,
        percent: Some(66.7),
        low: 20.8,
        high: 93.9,
        paper: Some(8.1),
    };
    let pull_request = |at: usize| PullRequest {
        id: text(at),
        language: text(at + 1),
        outcome: text(at + 2),
        kind: text(at + 3),
        reason: text(at + 4),
        evidence: vec![text(at + 5)],
        warnings: vec![text(at + 6)],
        fail_to_pass: vec![text(at + 7)],
        pass_to_pass: 4,
        folder: text(at + 8),
        ..PullRequest::default()
    };
    Overview {
        title: text(0),
        stages: (0..texts.len()).map(share).collect(),
        languages: vec![Share::default()],
        rejections: (0..texts.len()).map(|at| (text(at), 1)).collect(),
        costs: vec![StageCost {
            stage: text(3),
            steps: 2,
            seconds: 3.0,
            ..StageCost::default()
        }],
        pull_requests: (0..texts.len()).map(pull_request).collect(),
    }
}

/// All elements, each with its attributes, and the text directly within it.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>, String)> {
    fn walk(node: &Handle, found: &mut Vec<(String, Vec<(String, String)>, String)>) {
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let attributes = attrs.borrow();
            let attributes = attributes
                .iter()
                .map(|one| (one.name.local.to_string(), one.value.to_string()));
            let text = node.children.borrow();
            let text = text.iter().filter_map(|child| match &child.data {
                NodeData::Text { contents } => Some(contents.borrow().to_string()),
                _ => None,
            });
            found.push((name.local.to_string(), attributes.collect(), text.collect()));
        }
        for child in node.children.borrow().iter() {
            walk(child, found);
        }
    }
    let document = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut found = Vec::new();
    walk(&document.document, &mut found);
    found
}

#[test]
fn no_text_becomes_markup_or_script() {
    let plain = vec!["plain"; HOSTILE.len()];
    let tags =
        |page: &str| -> Vec<String> { elements(page).into_iter().map(|one| one.0).collect() };
    let page = overview(&model(HOSTILE)).unwrap();
    assert_eq!(tags(&page), tags(&overview(&model(&plain)).unwrap()));
    let found = elements(&page);
    for (tag, attributes, _) in &found {
        for (name, value) in attributes {
            assert!(!name.starts_with("on"), "<{tag} {name}>");
            assert!(
                !matches!(name.as_str(), "href" | "src" | "action" | "style"),
                "<{tag} {name}={value}>"
            );
        }
    }
    let title = found.iter().find(|one| one.0 == "title").unwrap();
    assert_eq!(title.2, HOSTILE[0]);
    let data = found.iter().find(|(tag, attributes, _)| {
        tag == "script"
            && attributes
                .iter()
                .any(|(_, value)| value == "application/json")
    });
    let told: serde_json::Value = serde_json::from_str(&data.unwrap().2).unwrap();
    let told: Vec<&str> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(told, HOSTILE, "each text arrives as it is");
}

#[test]
fn a_page_needs_nothing_else_and_is_the_same_each_time() {
    let model = model(&["a", "b"]);
    let page = overview(&model).unwrap();
    assert_eq!(page, overview(&model).unwrap());
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "nothing is loaded"
    );
    let found = elements(&page);
    let policy = found
        .iter()
        .flat_map(|one| &one.1)
        .find(|(name, _)| name == "content")
        .unwrap();
    assert!(policy.1.starts_with("default-src 'none'"));
    let hash = |text: &str| {
        use base64::Engine as _;
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(text.as_bytes());
        format!(
            "'sha256-{}'",
            base64::engine::general_purpose::STANDARD.encode(digest)
        )
    };
    for tag in ["style", "script"] {
        let own = found.iter().rfind(|one| one.0 == tag).unwrap();
        assert!(
            policy.1.contains(&hash(&own.2)),
            "the policy knows the page's own {tag}"
        );
    }
    for (tag, attributes, text) in &found {
        if tag == "svg" {
            assert!(attributes.iter().any(|(name, _)| name == "aria-label"));
        }
        if tag == "th" && !text.is_empty() {
            assert!(attributes.iter().any(|(name, _)| name == "scope"), "{text}");
        }
    }
}
