//! Plots as SVG. Colours are classes of the page's style; every plot has its figures in a table, or
//! says them.

use maud::{Markup, html};
use referee_core::shorten;

/// A figure with its error, or none.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) href: Option<String>,
    pub(crate) value: f64,
    pub(crate) error: Option<f64>,
}

/// The style of a plot that is a file of its own.
pub(crate) const STYLE: &str = ".plot,svg{font:12px sans-serif;background:#fff;color:#0f172a}\
    .tick{fill:#475569;font-size:11px}.grid{stroke:#cbd5e1}.axis,.error{stroke:#475569}\
    .error{stroke-width:2}.value,.column{fill:#1d4ed8}\
    .line{stroke-width:2;stroke:#1d4ed8}text.name{fill:#0f172a}\
    .line1{stroke:#b45309;stroke-dasharray:7 3}.line2{stroke:#047857;stroke-dasharray:2 3}\
    .line3{stroke:#be123c;stroke-dasharray:9 3 2 3}.line4{stroke:#6d28d9;stroke-dasharray:12 4}\
    .line5{stroke:#0e7490;stroke-dasharray:4 2}.line6{stroke:#4d7c0f;stroke-dasharray:1 2}\
    .line7{stroke:#475569;stroke-dasharray:6 2 1 2}text.name{stroke:none}";

/// Number of kinds of lines.
const STROKES: usize = 8;
const ROW: f64 = 26.0;
const NAMES: f64 = 170.0;
const WIDTH: f64 = 720.0;

/// The axis of figures with errors. It has their mean, 0.
pub(crate) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// The scale on which all of these fit; none where there are not two to compare.
    pub(crate) fn of(bars: &[Bar]) -> Option<Self> {
        (bars.len() > 1).then(|| Self::around(bars))
    }

    fn around(bars: &[Bar]) -> Self {
        let ends = bars.iter().flat_map(|bar| {
            let error = bar.error.unwrap_or(0.0);
            [bar.value - error, bar.value + error]
        });
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| {
            (low.min(end), high.max(end))
        });
        let room = ((high - low) * 0.05).max(1.0);
        Self {
            low: low - room,
            high: high + room,
        }
    }

    /// The place of a value, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// A figure with its error in the row of a table, which says both.
pub(crate) fn range(scale: &Scale, value: f64, error: Option<f64>) -> Markup {
    const LENGTH: f64 = 132.0;
    let x = |value: f64| n(4.0 + scale.share(value) * (LENGTH - 8.0));
    html! {
        svg.range viewBox=(format!("0 0 {LENGTH} 16")) aria-hidden="true" {
            line.grid x1=(x(0.0)) x2=(x(0.0)) y1="0" y2="16" {}
            @if let Some(error) = error {
                line.error x1=(x(value - error)) x2=(x(value + error)) y1="8" y2="8" {}
            }
            circle.value cx=(x(value)) cy="8" r="3.5" {}
        }
    }
}

/// Figures with error bars, one row each.
pub(crate) fn error_bars(bars: &[Bar], unit: &str, label: &str) -> Markup {
    let scale = Scale::around(bars);
    let (low, high) = (scale.low, scale.high);
    let x = |value: f64| NAMES + scale.share(value) * (WIDTH - NAMES - 10.0);
    let height = ROW * bars.len() as f64 + 26.0;
    let ticks = ticks(low, high, 6);
    // The inside of an image is not read, so one with links is no image.
    let has_links = bars.iter().any(|bar| bar.href.is_some());
    let role = if has_links { "group" } else { "img" };
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role=(role) aria-label=(label) {
            @for tick in &ticks {
                line.grid x1=(n(x(*tick))) x2=(n(x(*tick))) y1="0" y2=(n(height - 22.0)) {}
                text.tick x=(n(x(*tick))) y=(n(height - 6.0)) text-anchor="middle" { (short(*tick)) }
            }
            text.tick x="4" y=(n(height - 6.0)) { (unit) }
            @for (at, bar) in bars.iter().enumerate() {
                @let y = ROW * at as f64 + ROW / 2.0;
                @let name = shorten(&bar.name, 22);
                @if let Some(href) = &bar.href {
                    a href=(href) { text.name x="4" y=(n(y + 4.0)) { (name) title { (bar.name) } } }
                } @else {
                    text.name x="4" y=(n(y + 4.0)) { (name) title { (bar.name) } }
                }
                @if let Some(error) = bar.error {
                    line.error x1=(n(x(bar.value - error))) x2=(n(x(bar.value + error))) y1=(n(y)) y2=(n(y)) {}
                    @for end in [bar.value - error, bar.value + error] {
                        line.error x1=(n(x(end))) x2=(n(x(end))) y1=(n(y - 5.0)) y2=(n(y + 5.0)) {}
                    }
                }
                circle.value cx=(n(x(bar.value))) cy=(n(y)) r="4.5" {}
            }
        }
    }
}

/// A histogram: counts as columns of the same width.
pub(crate) fn histogram(columns: &[(String, u64)], label: &str) -> Markup {
    let most = columns
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let width = (WIDTH - 20.0) / columns.len().max(1) as f64;
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} 190")) role="img" aria-label=(label) {
            @for (at, (name, count)) in columns.iter().enumerate() {
                @let height = 140.0 * *count as f64 / most as f64;
                @let x = 10.0 + width * at as f64;
                rect.column x=(n(x + 1.0)) y=(n(160.0 - height)) width=(n(width - 2.0)) height=(n(height)) {
                    title { (name) ": " (count) }
                }
                @if columns.len() <= 12 || at % columns.len().div_ceil(12) == 0 {
                    text.tick x=(n(x + width / 2.0)) y="180" text-anchor="middle" { (name) }
                }
            }
            line.axis x1="10" x2=(n(WIDTH - 10.0)) y1="160" y2="160" {}
        }
    }
}

/// A line through points.
pub(crate) struct PlotLine {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The label, the axes and the cursor of a plot of lines.
pub(crate) struct Axes<'a> {
    pub(crate) label: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// The ends of the upward axis; none where the points say.
    pub(crate) range: Option<(f64, f64)>,
    /// The place on the other axis where somebody is.
    pub(crate) cursor: Option<f64>,
}

/// Lines whose names stand at their ends. Each differs in colour and in dashes.
pub(crate) fn lines(lines: &[PlotLine], axes: &Axes<'_>) -> Markup {
    const LEFT: f64 = 44.0;
    const RIGHT: f64 = 130.0;
    const TOP: f64 = 22.0;
    const BOTTOM: f64 = 240.0;
    const NAME: f64 = 14.0;
    let points = || lines.iter().flat_map(|line| &line.points);
    let last = points().map(|point| point.0).fold(1.0, f64::max);
    let (low, high) = axes.range.unwrap_or_else(|| {
        let low = points().map(|point| point.1).fold(0.0, f64::min);
        let high = points().map(|point| point.1).fold(0.0, f64::max);
        let room = ((high - low) * 0.05).max(1.0);
        (low - room, high + room)
    });
    let x = |value: f64| LEFT + value / last * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP);
    let path = |line: &PlotLine| {
        let points = line.points.iter().enumerate();
        let steps = points.map(|(at, point)| {
            let step = if at == 0 { 'M' } else { 'L' };
            format!("{step}{} {}", n(x(point.0)), n(y(point.1)))
        });
        steps.collect::<String>()
    };
    let mut names: Vec<(usize, f64)> = (lines.iter().enumerate())
        .filter_map(|(at, line)| Some((at, y(line.points.last()?.1))))
        .collect();
    names.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut free = TOP - NAME;
    for (_, height) in &mut names {
        *height = height.max(free + NAME);
        free = *height;
    }
    let height = BOTTOM.max(free) + 26.0;
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(axes.label)
            data-left=(n(x(0.0))) data-right=(n(x(last))) data-last=(last) {
            @for tick in ticks(low, high, 5) {
                line.grid x1=(n(LEFT)) x2=(n(WIDTH - RIGHT)) y1=(n(y(tick))) y2=(n(y(tick))) {}
                text.tick x=(n(LEFT - 6.0)) y=(n(y(tick) + 4.0)) text-anchor="end" { (short(tick)) }
            }
            @for tick in ticks(0.0, last, 8) {
                text.tick x=(n(x(tick))) y=(n(BOTTOM + 16.0)) text-anchor="middle" { (short(tick)) }
            }
            text.tick x="4" y="12" { (axes.y) }
            text.tick x=(n(WIDTH - RIGHT + 16.0)) y=(n(BOTTOM + 16.0)) { (axes.x) }
            @if let Some(at) = axes.cursor {
                line.cursor x1=(n(x(at))) x2=(n(x(at))) y1=(n(TOP)) y2=(n(BOTTOM)) {}
            }
            @for (at, line) in lines.iter().enumerate() {
                path class=(format!("line line{}", at % STROKES)) d=(path(line)) fill="none" {
                    title { (line.name) }
                }
            }
            @for (at, height) in names {
                text class=(format!("name line{}", at % STROKES)) x=(n(WIDTH - RIGHT + 8.0)) y=(n(height + 4.0)) {
                    (shorten(&lines[at].name, 16)) title { (lines[at].name) }
                }
            }
        }
    }
}

/// A share from 0 to 1, as a bar.
pub(crate) fn share(value: f64, label: &str) -> Markup {
    html! {
        meter min="0" max="1" value=(format!("{value:.3}")) aria-label=(label) {
            (format!("{:.0} %", value * 100.0))
        }
    }
}

/// Round numbers between two ends.
fn ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let step = (high - low) / about as f64;
    let power = 10_f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = power
        * factors
            .into_iter()
            .find(|f| f * power >= step)
            .unwrap_or(10.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn n(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(-130.0, 260.0, 6), [-100.0, 0.0, 100.0, 200.0]);
        assert_eq!(ticks(-1.0, 1.0, 6), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn names_are_escaped() {
        let bar = Bar {
            name: "<script>".to_owned(),
            href: None,
            value: 0.0,
            error: None,
        };
        assert!(
            !error_bars(&[bar], "Elo", "x")
                .into_string()
                .contains("<script>")
        );
    }
}
