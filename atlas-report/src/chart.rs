//! Bars, drawn by plotters as SVG within the page: its texts can be selected, and its colours are
//! names that the page's style gives a light and a dark form.

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// Colours that stand for the style's: `[fill="#0000A1"]` there.
const SERIES: [RGBColor; 4] = [
    RGBColor(0, 0, 0xa1),
    RGBColor(0, 0, 0xa2),
    RGBColor(0, 0, 0xa3),
    RGBColor(0, 0, 0xa4),
];
const GRID: RGBColor = RGBColor(0, 0, 0xb0);
const WHISKER: RGBColor = RGBColor(0, 0, 0xb2);

/// A bar, with the ends of its interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

impl Bar {
    pub(crate) fn plain(value: f64) -> Self {
        Self {
            value,
            interval: None,
        }
    }
}

/// Bars in groups, one below the other. `unit` stands behind each number.
pub(crate) fn bars(
    title: &str,
    series: &[&str],
    groups: &[(String, Vec<Option<Bar>>)],
    unit: &str,
) -> Markup {
    const LINE: usize = 17;
    const GAP: usize = 9;
    const LEFT: u32 = 160;
    const WIDTH: u32 = 560;
    let per_group = series.len() * LINE + GAP;
    let height = u32::try_from(groups.len() * per_group + GAP)
        .unwrap_or(u32::MAX)
        .min(20_000);
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
    // Drawing into a text cannot fail for want of a device; what a broken number gives is no picture.
    if draw(
        &mut svg,
        (WIDTH, height),
        LEFT,
        most,
        groups,
        (LINE, GAP),
        unit,
    )
    .is_err()
    {
        return html! {};
    }
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

fn draw(
    svg: &mut String,
    size: (u32, u32),
    left: u32,
    most: f64,
    groups: &[(String, Vec<Option<Bar>>)],
    (line, gap): (usize, usize),
    unit: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    let whole = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let (left, width) = (i32::try_from(left)?, i32::try_from(size.0)?);
    let right = width - 80;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places within a picture of some hundred points"
    )]
    let place = |value: f64| left + (value.max(0.0) / most * f64::from(right - left)) as i32;
    area.draw(&PathElement::new(
        [(left, 0), (left, i32::try_from(size.1)?)],
        GRID.stroke_width(1),
    ))?;
    let text = ("system-ui", 13).into_font();
    for (at, (name, bars)) in groups.iter().enumerate() {
        let top = whole(gap + at * (bars.len() * line + gap));
        let name = atlas_core::one_line(&crate::shell::clean(name), 24);
        area.draw(&Text::new(name, (4, top + 1), text.clone()))?;
        for (number, bar) in bars.iter().enumerate() {
            let Some(bar) = bar.filter(|bar| bar.value.is_finite()) else {
                continue;
            };
            let top = top + whole(number * line);
            let colour = SERIES[number % SERIES.len()];
            area.draw(&Rectangle::new(
                [(left, top), (place(bar.value), top + whole(line) - 4)],
                colour.filled(),
            ))?;
            let mut end = bar.value;
            if let Some((low, high)) = bar.interval {
                let middle = top + whole(line) / 2 - 2;
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
