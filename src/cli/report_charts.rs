//! The charts of a report, as SVG that stands inside a page.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rehome::{Error, Result};

use super::compare_table::Group;

/// Colours that can be seen on a light page and on a dark one; the page itself colours the texts.
const BEFORE: RGBColor = RGBColor(150, 175, 200);
const AFTER: RGBColor = RGBColor(70, 130, 180);
const MARK: RGBColor = RGBColor(225, 85, 70);
const TEXT: RGBColor = RGBColor(128, 128, 128);

/// Pixels.
const WIDTH: u32 = 760;
const LINE: u32 = 26;
const LABELS: u32 = 150;
const VALUES: u32 = 90;
const FONT: i32 = 16;

/// A horizontal bar.
pub(super) struct Bar {
    /// What it is about.
    pub label: String,
    /// How long it is, from 0.
    pub value: f64,
    /// Where it should end, if there is such a place.
    pub mark: Option<f64>,
    /// The value for people.
    pub text: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Horizontal bars, one below the other, each with its mark.
pub(super) fn bars(bars: &[Bar]) -> Result<String> {
    let top = bars.iter().flat_map(|bar| [Some(bar.value), bar.mark]).flatten().fold(0.0, f64::max);
    let height = LINE * u32::try_from(bars.len()).unwrap_or(u32::MAX / LINE);
    svg(height.max(LINE), |area| {
        let (label, value) = (style(HPos::Right), style(HPos::Left));
        let length = f64::from(WIDTH - LABELS - VALUES);
        let at = |value: f64| pixels(LABELS) + nearest(if top > 0.0 { value / top * length } else { 0.0 });
        for (bar, row) in bars.iter().zip(0..) {
            let (upper, lower) = (pixels(LINE) * row + 4, pixels(LINE) * (row + 1) - 4);
            let middle = i32::midpoint(upper, lower);
            area.draw(&Text::new(bar.label.clone(), (pixels(LABELS) - 8, middle), label.clone()))?;
            area.draw(&Rectangle::new([(pixels(LABELS), upper), (at(bar.value), lower)], AFTER.filled()))?;
            let mut end = at(bar.value);
            if let Some(mark) = bar.mark.map(at) {
                area.draw(&PathElement::new([(mark, upper - 3), (mark, lower + 3)], MARK.stroke_width(2)))?;
                end = end.max(mark);
            }
            area.draw(&Text::new(bar.text.clone(), (end + 6, middle), value.clone()))?;
        }
        Ok(())
    })
}

/// The keys of nodes, or of groups of them, before and after, side by side, each with its fair share.
pub(super) fn loads(before: &[Group], after: &[Group]) -> Result<String> {
    let groups = before.iter().chain(after);
    let top = groups.flat_map(|group| [group.keys.map(|keys| keys as f64), group.fair]).flatten().fold(1.0, f64::max);
    let count = u32::try_from(before.len()).unwrap_or(u32::MAX).max(1);
    svg(190, |area| {
        let mut builder = ChartBuilder::on(area);
        builder.margin(6).y_label_area_size(64).x_label_area_size(4);
        let mut chart = builder.build_cartesian_2d(0.0..f64::from(count), 0.0..top * 1.05)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .y_labels(5)
            .y_label_formatter(&|keys| super::compare_table::rate(*keys))
            .label_style(style(HPos::Left))
            .axis_style(TEXT)
            .bold_line_style(TEXT.mix(0.3))
            .light_line_style(TEXT.mix(0.0))
            .draw()?;
        let sides = [(before, BEFORE, 0.1, 0.5), (after, AFTER, 0.5, 0.9)];
        for (groups, colour, left, right) in sides {
            for (group, number) in groups.iter().zip(0_u32..) {
                let (left, right) = (f64::from(number) + left, f64::from(number) + right);
                if let Some(keys) = group.keys {
                    let corners = [(left, 0.0), (right, keys as f64)];
                    chart.draw_series([Rectangle::new(corners, colour.filled())])?;
                }
                if let Some(fair) = group.fair {
                    let line = PathElement::new([(left, fair), (right, fair)], MARK.stroke_width(2));
                    chart.draw_series([line])?;
                }
            }
        }
        Ok(())
    })
}

/// What drawing can fail with; into a text, it does not.
type Failed<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// Draws into a text. The name space, which a page needs not, is left out: the page names no other place.
fn svg(height: u32, draw: impl for<'a> FnOnce(&Area<'a>) -> std::result::Result<(), Failed<'a>>) -> Result<String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present()).map_err(|error| Error::syntax(format!("a chart: {error}")));
    drop(area);
    drawn?;
    Ok(text.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
}

fn style(horizontal: HPos) -> TextStyle<'static> {
    ("sans-serif", FONT).into_font().color(&TEXT).pos(Pos::new(horizontal, VPos::Center))
}

/// A size as a coordinate.
fn pixels(size: u32) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// The nearest pixel.
#[expect(clippy::cast_possible_truncation, reason = "lengths are within the picture, and casts saturate")]
fn nearest(length: f64) -> i32 {
    length.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_name_no_other_place_and_escape_names() {
        let bar = |label: &str, value, mark| Bar { label: label.to_owned(), value, mark, text: "9 %".to_owned() };
        let chart = bars(&[bar("a<b>&\"c", 0.5, Some(0.25)), bar("d", 0.0, None)]).unwrap();
        assert!(chart.starts_with("<svg ") && chart.trim_end().ends_with("</svg>"), "{chart}");
        assert!(!chart.contains("http"), "{chart}");
        assert!(chart.contains("a&lt;b&gt;&amp;&quot;c") && !chart.contains("a<b>"), "{chart}");
        let group = |keys, fair| Group { keys, fair };
        let before = [group(Some(5), Some(4.0)), group(None, None), group(Some(0), None)];
        let chart = loads(&before, &[group(Some(3), Some(3.0)); 3]).unwrap();
        assert_eq!(chart.matches("<rect").count(), 2 + 3);
        assert!(!chart.contains("http"), "{chart}");
    }

    #[test]
    fn nothing_to_draw_is_no_failure() {
        assert!(bars(&[]).unwrap().starts_with("<svg "));
        assert!(loads(&[], &[]).unwrap().starts_with("<svg "));
        let zero = Bar { label: "x".to_owned(), value: 0.0, mark: Some(0.0), text: "0".to_owned() };
        assert!(!bars(&[zero]).unwrap().contains("NaN"));
    }
}
