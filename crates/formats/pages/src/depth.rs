//! Measures the nesting of a page's elements before a tree is built.

/// Nesting depth, assuming that every element is closed. Checked before the tree is built, because
/// recursive functions walk the tree.
pub(crate) fn measure_depth(html: &str) -> usize {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    ];
    /// Elements that are closed by the next one of their kind.
    const CLOSED_BY_NEXT: [&str; 11] =
        ["p", "li", "dt", "dd", "tr", "td", "th", "option", "thead", "tbody", "tfoot"];
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let is_end = rest.starts_with('/');
        let name_at = rest.strip_prefix('/').unwrap_or(rest);
        let length = name_at.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = name_at[..length].to_ascii_lowercase();
        if name.is_empty()
            || VOID.contains(&name.as_str())
            || CLOSED_BY_NEXT.contains(&name.as_str())
        {
            continue;
        }
        if !is_end && matches!(name.as_str(), "script" | "style") {
            // Their content is not markup.
            rest = rest.find("</").map_or("", |end| &rest[end..]);
            while !rest.is_empty() && !is_end_of(rest, &name) {
                rest = rest[2..].find("</").map_or("", |end| &rest[2 + end..]);
            }
            continue;
        }
        if is_end {
            depth = depth.saturating_sub(1);
        } else {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

fn is_end_of(rest: &str, name: &str) -> bool {
    rest.get(2..2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
}
