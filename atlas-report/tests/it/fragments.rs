//! What notebooks show: no text of a stranger becomes an element, nothing runs, and long things are cut and counted.

use crate::hostile::{ATTACKS, shape};
use crate::support::elements;
use atlas_report::{Bar, BarChart, Cell, Fragment, FragmentPart, FragmentTable};

fn chart(text: &str) -> BarChart {
    BarChart {
        title: text.to_owned(),
        series: vec![text.to_owned(), text.to_owned()],
        groups: vec![(
            text.to_owned(),
            vec![
                Some(Bar::plain(3.0)),
                Some(Bar {
                    value: 1.0,
                    interval: Some((0.5, 2.0)),
                }),
            ],
        )],
        unit: "",
    }
}

fn fragment(text: &str) -> String {
    let t = || text.to_owned();
    let cells = vec![
        Cell::Text(t()),
        Cell::Number(t()),
        Cell::Good(t()),
        Cell::Bad(t()),
        Cell::Missing,
        Cell::Folded {
            said: t(),
            text: t(),
        },
    ];
    let table = FragmentTable {
        caption: t(),
        heads: vec![t(); 6],
        rows: vec![cells; 30],
        total: 400,
        folded: true,
    };
    let drawing = FragmentPart::Drawing {
        folded: Some(t()),
        svg: chart(text).svg(),
    };
    Fragment::new(t())
        .with_said(t())
        .with_tone(Some(false))
        .with_fact(t(), t())
        .with_part(FragmentPart::Note(t()))
        .with_part(FragmentPart::Table(table))
        .with_part(drawing)
        .with_part(FragmentPart::Text {
            said: t(),
            text: t(),
        })
        .html()
}

#[test]
fn no_text_becomes_an_element_or_an_attribute() {
    let (plain, drawn) = (fragment("harmless"), chart("harmless").svg());
    assert!(plain.contains("harmless") && drawn.contains("harmless"));
    for attack in ATTACKS {
        assert_eq!(shape(&fragment(attack)), shape(&plain), "{attack:?}");
        assert_eq!(shape(&chart(attack).svg()), shape(&drawn), "{attack:?}");
    }
}

#[test]
fn nothing_runs_and_nothing_is_loaded() {
    for text in ATTACKS {
        for element in elements(&fragment(text)) {
            assert!(
                !matches!(element.name.as_str(), "script" | "iframe" | "img" | "link"),
                "{}",
                element.name
            );
            for name in element.attributes.keys() {
                assert!(!name.starts_with("on"), "{name}");
                assert!(name != "href" && name != "src", "{name}");
            }
        }
    }
}

#[test]
fn a_style_reaches_nothing_beyond_its_fragment() {
    let html = fragment("x");
    let styles: Vec<String> = elements(&html)
        .into_iter()
        .filter(|one| one.name == "style")
        .map(|one| one.text)
        .collect();
    assert_eq!(styles.len(), 2);
    for rule in styles.iter().flat_map(|style| style.split('}')) {
        let selector = rule.split('{').next().unwrap().trim();
        assert!(
            selector.is_empty() || selector.starts_with(".swe-atlas"),
            "{selector}"
        );
    }
}

#[test]
fn long_tables_are_folded_and_counted() {
    let row = |n: usize| vec![Cell::Text(format!("row-{n}-"))];
    let table = FragmentTable {
        caption: "rows".to_owned(),
        heads: vec!["name".to_owned()],
        rows: (0..1000).map(row).collect(),
        total: 50_000,
        folded: false,
    };
    let html = Fragment::new("T")
        .with_part(FragmentPart::Table(table))
        .html();
    assert!(html.contains("rows (50000)"), "{html}");
    let (open, folded) = html.split_once("<details>").unwrap();
    assert!(open.contains("row-19-") && !open.contains("row-20-"));
    assert!(folded.contains("200 more") && folded.contains("row-219-"));
    assert!(!folded.contains("row-220-"));
    assert!(folded.contains("49780 further rows are not shown"));
}

#[test]
fn long_texts_are_folded_and_cut() {
    assert_eq!(Cell::of("short"), Cell::Text("short".to_owned()));
    let patch = "line\n".repeat(10_000);
    let Cell::Folded { said, text } = Cell::of(&patch) else {
        panic!("a patch stands open in a cell");
    };
    assert_eq!((said.as_str(), text.len()), ("line (10000 lines)", 50_000));
    let part = FragmentPart::Text { said, text };
    let html = Fragment::new("T").with_part(part).html();
    assert!(html.contains("30000 bytes more are not shown"));
    assert!(html.len() < 30_000, "{}", html.len());
}

#[test]
fn a_drawing_stands_alone() {
    let svg = chart("a & b").svg();
    assert!(svg.starts_with("<svg class=\"swe-atlas-bars\""), "{svg}");
    assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(svg.contains("aria-label=\"a &amp; b\"") && svg.contains("currentColor"));
    let none = BarChart::default();
    assert!(none.svg().starts_with("<svg "));
    let mut broken = chart("x");
    broken.groups[0].1[0] = Some(Bar::plain(f64::NAN));
    assert!(broken.svg().starts_with("<svg "));
}
