//! Tests with pages of several kinds: expected and unwanted text.

use super::*;

const ADDRESS: &str = "https://site.example.com/section/page";

/// A page with all typical frame elements around its content.
fn framed(content: &str) -> String {
    format!(
        "<!doctype html><html><head><title>A page — Site</title></head><body>\
         <header><nav><a href=/>Home</a><a href=/shop>Shop</a></nav></header>\
         <div class=cookie-banner>We use cookies. <button>Accept</button></div>\
         <main>{content}</main>\
         <aside class=ad>Buy now! Limited offer!</aside>\
         <footer>Imprint. All rights reserved.</footer></body></html>"
    )
}

fn paragraphs(count: usize) -> String {
    let sentence = "The ferry leaves the harbour at seven, crosses the strait in an hour, and \
                    brings flour, letters and people to the island, whatever the weather says.";
    (0..count).map(|index| format!("<p>{index}: {sentence} {sentence}</p>")).collect()
}

#[test]
fn an_article_is_told_without_its_frame() {
    let html = framed(&format!(
        "<article><h1>Ferries</h1>{}<h2>Prices</h2><ul><li>Adults<ul><li>Return</li></ul></li>\
         </ul><pre><code class=language-rust>let a = 1;</code></pre>\
         <table><tr><th>Day</th><th>Seats</th></tr><tr><td>Mon | Tue</td><td>40</td></tr></table>\
         <p>See <a href=../map>the map</a>.</p></article>",
        paragraphs(6)
    ));
    let page = read(&html, ADDRESS).unwrap();
    let text = &page.markdown;
    for told in ["Ferries", "## Prices", "- Adults", "let a = 1;", "| Day", "40"] {
        assert!(text.contains(told), "{told} in {text}");
    }
    assert!(text.contains("https://site.example.com/map"), "{text}");
    for left_out in ["cookies", "Buy now", "Imprint", "Shop"] {
        assert!(!text.contains(left_out), "{left_out} in {text}");
    }
    assert!(!page.needs_scripts);
}

#[test]
fn an_index_is_given_whole_but_for_its_frame() {
    let links: String =
        (0..40).map(|index| format!("<li><a href=/t/{index}>Thread {index}</a></li>")).collect();
    let page = read(&framed(&format!("<ul>{links}</ul>")), ADDRESS).unwrap();
    assert!(page.markdown.contains("[Thread 39](https://site.example.com/t/39)"), "{page:?}");
    assert!(!page.markdown.contains("Imprint"));
    assert!(page.markdown.starts_with("# A page"), "{page:?}");
}

#[test]
fn every_post_of_a_thread_is_told_whatever_posts_are_called() {
    let posts: String = (0..9)
        .map(|index| {
            format!(
                "<div class=comment><b>user{index}</b><p>Answer {index}, in a sentence.</p></div>"
            )
        })
        .collect();
    let page = read(&framed(&posts), ADDRESS).unwrap();
    assert!(page.markdown.contains("user0") && page.markdown.contains("Answer 8"), "{page:?}");

    let html = framed(&format!("<article>{}</article>{posts}", paragraphs(12)));
    let page = read(&html, ADDRESS).unwrap();
    assert!(
        !page.markdown.contains("Answer 8"),
        "beside an article they are not content: {page:?}"
    );
}

#[test]
fn quotes_of_other_posts_and_tabs_that_are_not_shown_are_told() {
    let html = framed(&format!(
        "<article>{}<aside class=quote><blockquote>It leaves at eight.</blockquote></aside>\
         <div role=tabpanel>By boat.</div><div role=tabpanel hidden>By train.</div>{}</article>",
        paragraphs(3),
        paragraphs(3)
    ));
    let page = read(&html, ADDRESS).unwrap();
    for told in ["It leaves at eight.", "By boat.", "By train."] {
        assert!(page.markdown.contains(told), "{told} in {page:?}");
    }
}

#[test]
fn code_keeps_its_comments_and_has_no_links() {
    let html = framed(&format!(
        "{}<pre><code>let a: <a href=/usize>usize</a> = 1; <span class=comment>// one</span>\n\
         # no heading</code></pre>",
        paragraphs(3)
    ));
    let page = read(&html, ADDRESS).unwrap();
    assert!(page.markdown.contains("let a: usize = 1; // one"), "{page:?}");
    assert!(page.markdown.starts_with("# A page"), "{page:?}");
}

#[test]
fn a_page_inside_of_a_form_is_told_and_a_form_on_a_page_is_not() {
    let form = "<form><label>Your address</label><p>We write every week.</p></form>";
    let html = format!(
        "<html><body><form id=aspnet><div class=with-sidebar>{}{form}</div></form></body></html>",
        paragraphs(4)
    );
    let page = read(&html, ADDRESS).unwrap();
    assert!(page.markdown.contains("3: The ferry"), "{page:?}");
    let page = read(&framed(&(paragraphs(4) + form)), ADDRESS).unwrap();
    assert!(!page.markdown.contains("every week"), "{page:?}");
}

#[test]
fn text_without_spaces_is_not_taken_for_a_shell() {
    let html = format!(
        "<html><head><script src=a.js></script></head><body><p>{}</p></body></html>",
        "船は七時に港を出る。".repeat(20)
    );
    assert!(!read(&html, ADDRESS).unwrap().needs_scripts);
}

#[test]
fn the_bytes_of_a_picture_are_not_told() {
    let html =
        framed(&(paragraphs(3) + "<img alt=Dot src='data:image/gif;base64,R0lGODlhAQABAAA='>"));
    assert!(!read(&html, ADDRESS).unwrap().markdown.contains("base64"));
}

#[test]
fn a_shell_for_scripts_is_recognised() {
    let shell = "<html><head><title>App</title><script src=a.js></script></head>\
                 <body><div id=root></div></body></html>";
    let page = read(shell, ADDRESS).unwrap();
    assert!(page.needs_scripts && page.is_bare);
    let little = "<html><head><title>App</title><script src=a.js></script></head>\
                  <body><p>It opens at nine.</p></body></html>";
    let page = read(little, ADDRESS).unwrap();
    assert!(page.needs_scripts && !page.is_bare);
    let bare = "<html><body><h1>Hi</h1><p>Short, and complete.</p></body></html>";
    assert!(!read(bare, ADDRESS).unwrap().needs_scripts);
}

#[test]
fn a_page_may_say_where_its_markdown_lies() {
    let html = "<html><head><link rel=alternate type=text/markdown href=/page.md></head>\
                <body><p>x</p></body></html>";
    assert_eq!(read(html, ADDRESS).unwrap().alternate.as_deref(), Some("/page.md"));
}

#[test]
fn pages_that_are_nested_without_end_are_refused_and_not_walked() {
    let html = format!("<html><body>{}x", "<div>".repeat(100_000));
    assert!(read(&html, ADDRESS).is_err());
    let list = format!("<html><body><ul>{}</ul>", "<li>item".repeat(5_000));
    assert!(read(&list, ADDRESS).is_ok(), "items that nobody closed are not nested");
}

#[test]
fn no_bytes_make_a_reader_fall() {
    for html in ["", "<", "<!--", "<html", "&#xFFFFFFFF;", "<svg><script>", "<table><p><td>\0"] {
        let _ = read(html, ADDRESS);
    }
}
