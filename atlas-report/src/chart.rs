//! Bars, drawn by plotters as SVG: their texts can be selected, and their colours are names. Within a page its style
//! gives them a light and a dark form; a drawing that stands alone brings a style that is legible on both.

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// Colours that stand for the style's: `[fill="#0000A1"]` there.
const SERIES: [RGBColor; 4] = [
    RGBColor(0, 0, 0xa1),
    RGBColor(0, 0, 0xa2),
    RGBColor(0, 0, 0xa3),
    RGBColor(0, 0, 0xa4),
];
/// Points of height of a bar, and between groups.
const LINE: usize = 17;
const GAP: usize = 9;
/// Points for the names of groups.
const LEFT: i32 = 160;
const GRID: RGBColor = RGBColor(0, 0, 0xb0);
const WHISKER: RGBColor = RGBColor(0, 0, 0xb2);

/// The style of a drawing that stands alone. Its class keeps it from the page around; `currentColor` is the page's ink.
const ALONE: &str = ".swe-atlas-bars text{fill:currentColor;font-family:system-ui,sans-serif}\
    .swe-atlas-bars [fill=\"#0000A1\"]{fill:#2f86cc}.swe-atlas-bars [fill=\"#0000A2\"]{fill:#d2691e}\
    .swe-atlas-bars [fill=\"#0000A3\"]{fill:#1d9a72}.swe-atlas-bars [fill=\"#0000A4\"]{fill:#808a96}\
    .swe-atlas-bars [stroke=\"#0000B0\"]{stroke:#808a96}.swe-atlas-bars [stroke=\"#0000B2\"]{stroke:currentColor}";

/// A bar, with the ends of its interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// How long it is.
    pub value: f64,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
}

impl Bar {
    /// A bar without an interval.
    pub fn plain(value: f64) -> Self {
        Self {
            value,
            interval: None,
        }
    }
}

/// Bars in groups, one below the other, as a drawing that stands alone: in a file, in a notebook.
///
/// ```
/// use atlas_report::{Bar, BarChart};
/// let chart = BarChart {
///     title: "Patches left".to_owned(),
///     series: vec!["patches".to_owned()],
///     groups: vec![("tests".to_owned(), vec![Some(Bar::plain(12.0))])],
///     unit: "",
/// };
/// assert!(chart.svg().starts_with("<svg class=\"swe-atlas-bars\""));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What it shows, for those who hear it.
    pub title: String,
    /// What the bars of a group are; of several there is a legend. Four have a colour of their own.
    pub series: Vec<String>,
    /// Names with a bar for each of the series; absent where there is no number.
    pub groups: Vec<(String, Vec<Option<Bar>>)>,
    /// What stands behind each number.
    pub unit: &'static str,
}

impl BarChart {
    /// The drawing as SVG, legible on light and on dark. Every text in it is escaped.
    pub fn svg(&self) -> String {
        let series: Vec<&str> = self.series.iter().map(String::as_str).collect();
        let legend = if series.len() > 1 {
            series.as_slice()
        } else {
            &[]
        };
        let svg = picture(series.len(), legend, &self.groups, self.unit);
        let start = html! { (self.title) }.into_string();
        svg.unwrap_or_default().replacen(
            "<svg ",
            &format!(
                "<svg class=\"swe-atlas-bars\" role=\"img\" aria-label=\"{start}\" style=\"max-width:100%;height:auto\" "
            ),
            1,
        ).replacen('>', &format!("><style>{ALONE}</style>"), 1)
    }
}

/// Bars in groups, one below the other. `unit` stands behind each number.
pub(crate) fn bars(
    title: &str,
    series: &[&str],
    groups: &[(String, Vec<Option<Bar>>)],
    unit: &str,
) -> Markup {
    let Some(svg) = picture(series.len(), &[], groups, unit) else {
        return html! {};
    };
    // The picture is named for those who hear it; its numbers stand in the table beside it.
    let svg = svg.replacen(
        "<svg ",
        &format!(
            "<svg role=\"img\" aria-label=\"{}\" ",
            html! { (title) }.into_string()
        ),
        1,
    );
    html! {
        div.chart {
            @if series.len() > 1 {
                ul.legend {
                    @for (name, colour) in series.iter().zip(SERIES) {
                        li { svg viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" fill=(format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)) {} } (name) }
                    }
                }
            }
            (PreEscaped(svg))
        }
    }
}

/// The drawing; none where a number is broken.
fn picture(
    series: usize,
    legend: &[&str],
    groups: &[(String, Vec<Option<Bar>>)],
    unit: &str,
) -> Option<String> {
    const WIDTH: u32 = 560;
    let legend_height = if legend.is_empty() { 0 } else { LINE + GAP };
    let height = groups.len() * (series * LINE + GAP) + GAP + legend_height;
    let height = u32::try_from(height).unwrap_or(u32::MAX).min(20_000);
    let most = groups
        .iter()
        .flat_map(|(_, bars)| bars.iter().flatten())
        .map(|bar| {
            bar.interval
                .map_or(bar.value, |(_, high)| high.max(bar.value))
        })
        .filter(|value| value.is_finite())
        .fold(0.0_f64, f64::max)
        .max(f64::MIN_POSITIVE);
    let mut svg = String::new();
    // Drawing into a text cannot fail for want of a device.
    draw(&mut svg, (WIDTH, height), most, groups, legend, unit).ok()?;
    Some(svg)
}

fn draw(
    svg: &mut String,
    size: (u32, u32),
    most: f64,
    groups: &[(String, Vec<Option<Bar>>)],
    legend: &[&str],
    unit: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    let whole = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let (left, width) = (LEFT, i32::try_from(size.0)?);
    let right = width - 80;
    let first = if legend.is_empty() {
        GAP
    } else {
        LINE + 2 * GAP
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places within a picture of some hundred points"
    )]
    let place = |value: f64| left + (value.max(0.0) / most * f64::from(right - left)) as i32;
    area.draw(&PathElement::new(
        [(left, whole(first - GAP)), (left, i32::try_from(size.1)?)],
        GRID.stroke_width(1),
    ))?;
    let text = ("system-ui", 13).into_font();
    let share = width / whole(legend.len().max(1));
    for (at, name) in legend.iter().enumerate() {
        let (x, colour) = (4 + whole(at) * share, SERIES[at % SERIES.len()]);
        area.draw(&Rectangle::new([(x, 5), (x + 10, 15)], colour.filled()))?;
        let name = atlas_core::one_line(&crate::shell::clean(name), 120 / legend.len());
        area.draw(&Text::new(name, (x + 15, 4), text.clone()))?;
    }
    for (at, (name, bars)) in groups.iter().enumerate() {
        let top = whole(first + at * (bars.len() * LINE + GAP));
        let name = atlas_core::one_line(&crate::shell::clean(name), 24);
        area.draw(&Text::new(name, (4, top + 1), text.clone()))?;
        for (number, bar) in bars.iter().enumerate() {
            let Some(bar) = bar.filter(|bar| bar.value.is_finite()) else {
                continue;
            };
            let top = top + whole(number * LINE);
            let colour = SERIES[number % SERIES.len()];
            area.draw(&Rectangle::new(
                [(left, top), (place(bar.value), top + whole(LINE) - 4)],
                colour.filled(),
            ))?;
            let mut end = bar.value;
            if let Some((low, high)) = bar.interval {
                let middle = top + whole(LINE) / 2 - 2;
                area.draw(&PathElement::new(
                    [(place(low), middle), (place(high), middle)],
                    WHISKER.stroke_width(1),
                ))?;
                end = end.max(high);
            }
            let said = format!("{}{unit}", crate::number(bar.value));
            area.draw(&Text::new(said, (place(end) + 5, top + 1), text.clone()))?;
        }
    }
    area.present()?;
    Ok(())
}
