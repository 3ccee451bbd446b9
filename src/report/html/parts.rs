//! The files that the page is made of.

/// The document, with holes for the rest.
pub(super) const PAGE: &str = include_str!("page.html");

/// The library that draws charts: uPlot, as its package has it (its version and licence are in `vendor/uplot`).
pub(super) const CHARTS: &str = include_str!("vendor/uplot/uPlot.iife.min.js");

/// The page's own modules; each after those that it imports from.
const MODULES: [&str; 10] = [
    include_str!("dom.js"),
    include_str!("words.js"),
    include_str!("model.js"),
    include_str!("load.js"),
    include_str!("herd.js"),
    include_str!("graph.js"),
    include_str!("layers.js"),
    include_str!("paths.js"),
    include_str!("waits.js"),
    include_str!("app.js"),
];

/// All modules as one. They are written so that no two of them use a name for different things.
pub(super) fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines()).filter(|line| !line.starts_with("import "));
    let mut script = String::new();
    for line in lines {
        script.push_str(line.strip_prefix("export ").unwrap_or(line));
        script.push('\n');
    }
    script
}

/// The styles of the charts, then the page's own.
pub(super) fn style() -> String {
    [include_str!("vendor/uplot/uPlot.min.css"), include_str!("page.css")].join("\n")
}
