//! A screen with its colours as an SVG that follows the viewer's theme.

use anstyle_svg::Term;

/// Characters that are special in SVG, a one-character placeholder (from a private use area), and their escape
/// sequences.
const ESCAPED: [(char, char, &str); 3] =
    [('&', '\u{e000}', "&amp;"), ('<', '\u{e001}', "&lt;"), ('>', '\u{e002}', "&gt;")];

/// The colours of a light theme, by the class names of the renderer: text, background, then the sixteen of terminals.
const LIGHT: &str = "
  @media (prefers-color-scheme: light) {
    .fg { fill: #24292f }
    .bg { fill: #ffffff; background: #ffffff }
    .fg-black { fill: #24292f }
    .fg-red, .fg-bright-red { fill: #b3261e }
    .fg-green, .fg-bright-green { fill: #1a7f37 }
    .fg-yellow, .fg-bright-yellow { fill: #8a6100 }
    .fg-blue, .fg-bright-blue { fill: #0550ae }
    .fg-magenta, .fg-bright-magenta { fill: #8250df }
    .fg-cyan, .fg-bright-cyan { fill: #1b7c83 }
    .fg-white, .fg-bright-white { fill: #24292f }
    .fg-bright-black { fill: #57606a }
  }
";

/// Approximate width of one character in the renderer's font.
const CHARACTER: usize = 9;

/// Draws a screen with this many columns, without the empty rows at the bottom.
pub(super) fn draw(screen: &str, columns: u16) -> String {
    let screen = screen.trim_end();
    let width = usize::from(columns) * CHARACTER;
    // anstyle-svg places backgrounds by the length of the escaped text, so these are escaped afterwards.
    let plain = ESCAPED.iter().fold(screen.to_owned(), |text, (sign, stand_in, _)| {
        text.replace(*sign, &stand_in.to_string())
    });
    let svg = Term::new().min_width_px(width).render_svg(&plain);
    let svg =
        ESCAPED.iter().fold(svg, |svg, (_, stand_in, escaped)| svg.replace(*stand_in, escaped));
    svg.replacen("</style>", &format!("{LIGHT}</style>"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_background_stands_where_its_text_does() {
        let svg = draw("> \u{1b}[47mx\u{1b}[0m & y", 40);
        assert!(svg.contains("<tspan>  </tspan><tspan class=\"bg-white\">"), "{svg}");
        assert!(svg.contains("&gt; ") && svg.contains("&amp; y"), "{svg}");
    }

    #[test]
    fn a_screen_is_drawn_with_both_themes_and_as_text() {
        let svg = draw("\u{1b}[32mok\u{1b}[0m <script>\n\n\n", 40);
        assert!(svg.contains("prefers-color-scheme: light") && svg.contains("fg-green"), "{svg}");
        assert!(svg.contains("&lt;script") && !svg.contains("<script"), "{svg}");
    }
}
