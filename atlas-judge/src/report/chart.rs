//! Drawings in SVG. Colours are style classes, so a drawing is legible on light and on dark.

use super::html::escape;
use std::fmt::Write as _;

/// The drawing's width; the page scales it.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Colours of the style sheet.
const COLOURS: usize = 9;
/// The style of a drawing that stands alone: colours that are legible on light and on dark, and the ink of the page around.
const ALONE: &str = ".swe-atlas-figure{--c0:#808a96;--c1:#2f86cc;--c2:#d2691e;--c3:#1d9a72;--c4:#b8579a;--c5:#a67c12;\
    --c6:#5f9fd6;--c7:#8a6cd1;--c8:#d9483b;--card:transparent;--soft:currentColor}\
    .swe-atlas-figure text{fill:currentColor;font:12px system-ui,sans-serif}.swe-atlas-figure .soft{opacity:.75}\
    .swe-atlas-figure .grid{stroke:#80808066;stroke-width:1}.swe-atlas-figure .axis{stroke:currentColor;stroke-width:1}\
    .swe-atlas-figure .path{fill:none;stroke-width:2;stroke-linejoin:round}\
    .swe-atlas-figure .guide{fill:none;stroke:currentColor;stroke-width:1;stroke-dasharray:4 4}";
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// An axis from one value to another.
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Places with a label.
    pub(super) ticks: Vec<(f64, String)>,
    pub(super) label: String,
}

impl Axis {
    /// From 0 % to a round share at or above `most`.
    pub(super) fn share(label: &str, most: f64) -> Self {
        let to = [0.1, 0.2, 0.4, 0.6, 0.8]
            .into_iter()
            .find(|to| most <= *to)
            .unwrap_or(1.0);
        let ticks = (0..=4)
            .map(|at| {
                let value = to * f64::from(at) / 4.0;
                let percent = value * 100.0;
                let digits = usize::from((percent - percent.round()).abs() > 1e-9);
                (value, format!("{percent:.digits$}%"))
            })
            .collect();
        Self {
            from: 0.0,
            to,
            ticks,
            label: label.to_owned(),
        }
    }

    /// From one number to a greater one, with round steps between.
    pub(super) fn between(label: &str, low: f64, high: f64) -> Self {
        // The power of ten of a fifth of the way, times 1, 2, 5 or 10.
        let fifth = (high - low) / 5.0;
        let power = 10_f64.powf(fifth.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|times| times * power)
            .find(|step| *step >= fifth)
            .unwrap_or(fifth);
        let (from, to) = ((low / step).floor() * step, (high / step).ceil() * step);
        let digits = if step >= 1.0 { 0 } else { 3 };
        let steps = std::iter::successors(Some(from), |at| Some(at + step));
        let ticks = steps.take_while(|at| *at <= to + step / 2.0).map(|at| {
            let label = format!("{at:.digits$}").replace('-', "−");
            let label = if digits > 0 {
                label.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                label
            };
            (at, label)
        });
        Self {
            from,
            to,
            ticks: ticks.collect(),
            label: label.to_owned(),
        }
    }

    /// Whole numbers from 0 to a round number at or above `most`.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of patches are far below 2^53"
    )]
    pub(super) fn count(label: &str, most: u64) -> Self {
        let mut step = 1_u64;
        // 1, 2, 5, 10, 20, 50, … until four steps are enough.
        for at in 0.. {
            if step.saturating_mul(4) >= most {
                break;
            }
            step = if at % 3 == 1 {
                step / 2 * 5
            } else {
                step.saturating_mul(2)
            };
        }
        let to = most.div_ceil(step).max(1) * step;
        Self {
            from: 0.0,
            to: to as f64,
            ticks: (0..=to / step)
                .map(|at| {
                    let value = at * step;
                    let label = match value {
                        0 => "0".to_owned(),
                        _ if step >= 1_000_000 => format!("{}M", value / 1_000_000),
                        _ if step >= 1_000 => format!("{}k", value / 1_000),
                        _ => value.to_string(),
                    };
                    (value as f64, label)
                })
                .collect(),
            label: label.to_owned(),
        }
    }

    fn place(&self, value: f64) -> f64 {
        if self.to > self.from {
            ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
        } else {
            0.5
        }
    }
}

/// A drawing with its legend.
pub(super) struct Chart {
    body: String,
    height: f64,
    legend: Vec<(String, String)>,
    x: Axis,
    y: Axis,
}

/// A path's data, and its point where it has just one.
#[derive(Default)]
struct Path {
    d: String,
    only: Option<(f64, f64)>,
}

/// A point with a number beside it.
pub(super) struct Numbered {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) name: String,
}

impl Chart {
    /// An empty drawing with two axes.
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        let mut chart = Self {
            body: String::new(),
            height: HEIGHT,
            legend: Vec::new(),
            x,
            y,
        };
        chart.axes();
        chart
    }

    /// A drawing without vertical axis, `rows` rows high.
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    pub(super) fn rows(rows: usize, x: Axis) -> Self {
        let y = Axis {
            from: 0.0,
            to: rows as f64,
            ticks: Vec::new(),
            label: String::new(),
        };
        let mut chart = Self {
            body: String::new(),
            height: TOP + BOTTOM + 42.0 * rows as f64,
            legend: Vec::new(),
            x,
            y,
        };
        chart.axes();
        chart
    }

    fn left(&self) -> f64 {
        if self.y.ticks.is_empty() { 16.0 } else { LEFT }
    }

    fn at_x(&self, value: f64) -> f64 {
        self.left() + self.x.place(value) * (WIDTH - RIGHT - self.left())
    }

    fn at_y(&self, value: f64) -> f64 {
        self.height - BOTTOM - self.y.place(value) * (self.height - TOP - BOTTOM)
    }

    fn axes(&mut self) {
        let (left, right) = (self.left(), WIDTH - RIGHT);
        let (top, bottom) = (TOP, self.height - BOTTOM);
        let mut body = String::new();
        for (value, label) in &self.y.ticks {
            let y = self.at_y(*value);
            let _ = writeln!(
                body,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                escape(label)
            );
        }
        for (at, (value, label)) in self.x.ticks.iter().enumerate() {
            let x = self.at_x(*value);
            // Labels at the ends must not leave the drawing.
            let anchor = match at {
                0 if x < 30.0 => "start",
                _ if x > WIDTH - 30.0 => "end",
                _ => "middle",
            };
            let _ = writeln!(
                body,
                "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                bottom + 4.0,
                if anchor == "end" { x + 10.0 } else { x },
                bottom + 18.0,
                escape(label)
            );
        }
        let _ = writeln!(
            body,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(left, right),
            self.height - 8.0,
            escape(&self.x.label)
        );
        if !self.y.label.is_empty() {
            let middle = f64::midpoint(top, bottom);
            let _ = writeln!(
                body,
                "<text class=\"soft\" x=\"12\" y=\"{middle:.1}\" text-anchor=\"middle\" \
                 transform=\"rotate(-90 12 {middle:.1})\">{}</text>",
                escape(&self.y.label)
            );
        }
        self.body.push_str(&body);
    }

    /// A line through points in order, in the `at`-th style.
    pub(super) fn line(
        &mut self,
        name: &str,
        at: usize,
        dashed: bool,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let dash = if dashed {
            // Shifted by each round of colours: as many lines differ as there are of both together.
            DASHES[(at + at / COLOURS) % DASHES.len()]
        } else {
            ""
        };
        self.drawn(name, at % COLOURS, dash, points);
    }

    /// A line through points in order, in a colour, dashed or not.
    pub(super) fn styled_line(
        &mut self,
        name: &str,
        colour: usize,
        dashed: bool,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let dash = if dashed { DASHES[1] } else { "" };
        self.drawn(name, colour % COLOURS, dash, points);
    }

    /// Points `(x, y, size)` with a thin line through them; the size is 0 to 1. Hollow ones belong to a dashed line.
    pub(super) fn dots(
        &mut self,
        name: &str,
        colour: usize,
        hollow: bool,
        points: &[(f64, f64, f64)],
    ) {
        let colour = colour % COLOURS;
        let fill = if hollow {
            format!("fill:var(--card);stroke:var(--c{colour});stroke-width:2")
        } else {
            format!("fill:var(--c{colour})")
        };
        if points.len() > 1 {
            let d = self.path(points.iter().map(|(x, y, _)| (*x, *y))).d;
            let dash = if hollow { ";stroke-dasharray:4 3" } else { "" };
            let _ = writeln!(
                self.body,
                "<path class=\"path\" style=\"stroke:var(--c{colour});stroke-width:1{dash}\" d=\"{d}\"/>"
            );
        }
        for (x, y, size) in points {
            let _ = writeln!(
                self.body,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" style=\"{fill}\"/>",
                self.at_x(*x),
                self.at_y(*y),
                2.0 + 6.0 * size
            );
        }
        self.key(
            name,
            &format!("<circle cx=\"14\" cy=\"6\" r=\"5\" style=\"{fill}\"/>"),
        );
    }

    fn drawn(
        &mut self,
        name: &str,
        colour: usize,
        dash: &str,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let style = format!("stroke:var(--c{colour});stroke-dasharray:{dash}");
        let style = style.trim_end_matches(";stroke-dasharray:");
        let path = self.path(points);
        match path.only {
            // A line of one point would not be seen.
            Some((x, y)) => {
                let _ = writeln!(
                    self.body,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" style=\"fill:var(--c{colour})\"/>"
                );
            }
            None if !path.d.is_empty() => {
                let d = path.d;
                let _ = writeln!(
                    self.body,
                    "<path class=\"path\" style=\"{style}\" d=\"{d}\"/>"
                );
            }
            None => {}
        }
        let mark = format!("<path class=\"path\" style=\"{style}\" d=\"M1 6H27\"/>");
        self.key(name, &mark);
    }

    /// A path through points. Those closer than half a pixel to the last one are left out: a curve
    /// over many scores stays small.
    fn path(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Path {
        let mut path = Path::default();
        let mut last: Option<(f64, f64)> = None;
        let mut skipped = None;
        for (x, y) in points {
            let here = (self.at_x(x), self.at_y(y));
            let near = |(a, b): (f64, f64)| (here.0 - a).abs() < 0.5 && (here.1 - b).abs() < 0.5;
            if last.is_some_and(near) {
                skipped = Some(here);
                continue;
            }
            let command = if last.is_none() { 'M' } else { 'L' };
            path.only = if last.is_none() { Some(here) } else { None };
            let _ = write!(path.d, "{command}{:.1} {:.1}", here.0, here.1);
            (last, skipped) = (Some(here), None);
        }
        if let Some((x, y)) = skipped {
            let _ = write!(path.d, "L{x:.1} {y:.1}");
        }
        path
    }

    /// Small points that no line joins.
    pub(super) fn scatter(&mut self, name: &str, colour: usize, points: &[(f64, f64)]) {
        let style = format!("fill:var(--c{});fill-opacity:0.45", colour % COLOURS);
        for (x, y) in points {
            let (x, y) = (self.at_x(*x), self.at_y(*y));
            let _ = writeln!(
                self.body,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" style=\"{style}\"/>"
            );
        }
        let mark = format!("<circle cx=\"14\" cy=\"6\" r=\"3\" style=\"{style}\"/>");
        self.key(name, &mark);
    }

    /// A thin dashed line through points in order; without a name it is not in the legend.
    pub(super) fn guide(
        &mut self,
        name: &str,
        colour: usize,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let style = format!("stroke:var(--c{})", colour % COLOURS);
        let d = self.path(points).d;
        let _ = writeln!(
            self.body,
            "<path class=\"guide\" style=\"{style}\" d=\"{d}\"/>"
        );
        if !name.is_empty() {
            let mark = format!("<path class=\"guide\" style=\"{style}\" d=\"M1 6H27\"/>");
            self.key(name, &mark);
        }
    }

    /// A dashed line from the origin to the far corner.
    pub(super) fn diagonal(&mut self) {
        let (x, y) = (self.at_x(self.x.from), self.at_y(self.y.from));
        let (to_x, to_y) = (self.at_x(self.x.to), self.at_y(self.y.to));
        let _ = writeln!(
            self.body,
            "<path class=\"guide\" d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\"/>"
        );
    }

    /// A rectangle in the units of the axes.
    pub(super) fn bar(&mut self, x: (f64, f64), y: (f64, f64), colour: usize, opacity: f64) {
        let (left, right) = (self.at_x(x.0.min(x.1)), self.at_x(x.0.max(x.1)));
        let (top, bottom) = (self.at_y(y.0.max(y.1)), self.at_y(y.0.min(y.1)));
        let _ = writeln!(
            self.body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             style=\"fill:var(--c{});fill-opacity:{opacity:.2}\"/>",
            right - left,
            bottom - top,
            colour % COLOURS
        );
    }

    /// A text in the units of the axes.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            self.at_x(x),
            self.at_y(y) + 4.0,
            escape(text)
        );
    }

    /// A vertical line.
    pub(super) fn rule(&mut self, x: f64) {
        let x = self.at_x(x);
        let _ = writeln!(
            self.body,
            "<path class=\"axis\" d=\"M{x:.1} {TOP:.1}V{:.1}\"/>",
            self.height - BOTTOM
        );
    }

    /// Points with numbers, explained in the legend. Numbers stand where they cover no point and no
    /// other number, as far as there is such a place.
    pub(super) fn numbered(&mut self, points: &[Numbered]) {
        let dots: Vec<(f64, f64)> = points
            .iter()
            .map(|point| (self.at_x(point.x), self.at_y(point.y)))
            .collect();
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for (at, (point, dot)) in points.iter().zip(&dots).enumerate() {
            let (x, y) = self.free_place(*dot, &dots, &taken);
            taken.push((x, y));
            let colour = at % COLOURS;
            let _ = writeln!(
                self.body,
                "<path class=\"grid\" style=\"stroke:var(--c{colour})\" d=\"M{:.1} {:.1}L{x:.1} {y:.1}\"/>\
                 <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" style=\"fill:var(--c{colour})\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" style=\"fill:var(--card);stroke:var(--c{colour})\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                dot.0,
                dot.1,
                dot.0,
                dot.1,
                y + 4.0,
                at + 1
            );
            self.key(
                &format!("{} {}", at + 1, point.name),
                &format!("<circle cx=\"14\" cy=\"6\" r=\"5\" style=\"fill:var(--c{colour})\"/>"),
            );
        }
    }

    fn free_place(&self, dot: (f64, f64), dots: &[(f64, f64)], taken: &[(f64, f64)]) -> (f64, f64) {
        let far = |a: (f64, f64), b: (f64, f64), by: f64| (a.0 - b.0).hypot(a.1 - b.1) >= by;
        let mut fallback = dot;
        for ring in 0..8_u32 {
            let radius = 17.0 + 9.0 * f64::from(ring);
            for turn in 0..16_u32 {
                let angle =
                    -std::f64::consts::FRAC_PI_4 + f64::from(turn) * std::f64::consts::FRAC_PI_8;
                let place = (dot.0 + radius * angle.cos(), dot.1 + radius * angle.sin());
                let inside = place.0 > self.left() + 8.0
                    && place.0 < WIDTH - 9.0
                    && place.1 > 9.0
                    && place.1 < self.height - BOTTOM - 8.0;
                if !inside {
                    continue;
                }
                fallback = place;
                if dots.iter().all(|other| far(place, *other, 13.0))
                    && taken.iter().all(|other| far(place, *other, 17.0))
                {
                    return place;
                }
            }
        }
        fallback
    }

    /// A colour in the legend.
    pub(super) fn swatch(&mut self, name: &str, colour: usize, opacity: f64) {
        self.key(
            name,
            &format!(
                "<rect x=\"6\" y=\"0\" width=\"16\" height=\"12\" \
                 style=\"fill:var(--c{});fill-opacity:{opacity:.2}\"/>",
                colour % COLOURS
            ),
        );
    }

    fn key(&mut self, name: &str, mark: &str) {
        self.legend.push((name.to_owned(), mark.to_owned()));
    }

    pub(super) fn svg(&self, title: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {:.0}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            self.height,
            escape(title),
            self.body
        )
    }

    /// The drawing with its legend below it, as SVG that needs no page.
    #[expect(clippy::cast_precision_loss, reason = "a few names")]
    pub(super) fn alone(&self, title: &str) -> String {
        const LINE: f64 = 18.0;
        let height = self.height + LINE * self.legend.len() as f64;
        let mut text = format!(
            "<svg class=\"swe-atlas-figure\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{}\" style=\"max-width:100%;height:auto\">\
             <style>{ALONE}</style>\n{}",
            escape(title),
            self.body
        );
        for (at, (name, mark)) in self.legend.iter().enumerate() {
            let y = self.height + LINE * at as f64;
            let name = atlas_core::one_line(name, 64);
            let _ = writeln!(
                text,
                "<g transform=\"translate(16 {y:.0})\">{mark}<text x=\"36\" y=\"10\">{}</text></g>",
                escape(&name)
            );
        }
        text.push_str("</svg>\n");
        text
    }

    pub(super) fn legend(&self) -> String {
        if self.legend.is_empty() {
            return String::new();
        }
        let mut text = String::from("<ul class=\"legend\">\n");
        for (name, mark) in &self.legend {
            let _ = writeln!(
                text,
                "<li><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\">{mark}</svg>{}</li>",
                escape(name)
            );
        }
        text.push_str("</ul>\n");
        text
    }
}
