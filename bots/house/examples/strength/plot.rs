//! A plot as SVG: points with error bars over time a move, on a logarithmic axis.

use std::fmt::Write as _;

/// A point: milliseconds, value, and half the width of its interval.
pub(crate) type Point = (f64, f64, f64);

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// So many lines across.
const STEPS: u32 = 5;

/// The plot, with the value's name as its title.
pub(crate) fn svg(title: &str, points: &[Point]) -> String {
    let ends = points
        .iter()
        .flat_map(|(_, value, error)| [value - error, value + error]);
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let margin = ((high - low) / 10.0).max(0.05);
    let (low, high) = (low - margin, high + margin);
    let (first, last) = points
        .iter()
        .fold((f64::MAX, f64::MIN), |(first, last), point| {
            (first.min(point.0), last.max(point.0))
        });
    let x = |time: f64| {
        let share = (time / first).ln() / (last / first).ln().max(f64::EPSILON);
        LEFT + 20.0 + share * (WIDTH - LEFT - RIGHT - 40.0)
    };
    let y = |value: f64| TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{title}</text>\n"
    );
    let mut line = |text: std::fmt::Arguments<'_>| {
        writeln!(out, "{text}").expect("a string takes everything");
    };
    for step in 0..=STEPS {
        let value = low + (high - low) * f64::from(step) / f64::from(STEPS);
        let at = y(value);
        let right = WIDTH - RIGHT;
        line(format_args!(
            "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"52\" y=\"{:.1}\" text-anchor=\"end\">{value:.1}</text>",
            at + 4.0
        ));
    }
    let path: Vec<String> = points
        .iter()
        .map(|(time, value, _)| format!("{:.1} {:.1}", x(*time), y(*value)))
        .collect();
    line(format_args!(
        "<path d=\"M{}\" fill=\"none\" stroke=\"#06c\"/>",
        path.join("L")
    ));
    for (time, value, error) in points {
        let (at, middle) = (x(*time), y(*value));
        line(format_args!(
            "<path d=\"M{at:.1} {:.1}V{:.1}\" stroke=\"#06c\"/>\
             <circle cx=\"{at:.1}\" cy=\"{middle:.1}\" r=\"4\" fill=\"#06c\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{time} ms</text>",
            y(value - error),
            y(value + error),
            HEIGHT - 20.0
        ));
    }
    out + "</svg>\n"
}
