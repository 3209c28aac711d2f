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
    let page = read_page(&html, ADDRESS).unwrap();
    let text = &page.markdown;
    for told in ["Ferries", "## Prices", "- Adults", "let a = 1;", "| Day", "40"] {
        assert!(text.contains(told), "{told} in {text}");
    }
    assert!(text.contains("https://site.example.com/map"), "{text}");
    for left_out in ["cookies", "Buy now", "Imprint", "Shop"] {
        assert!(!text.contains(left_out), "{left_out} in {text}");
    }
    assert_eq!(page.script_need, ScriptNeed::None);
}

#[test]
fn an_index_is_given_whole_but_for_its_frame() {
    let links: String =
        (0..40).map(|index| format!("<li><a href=/t/{index}>Thread {index}</a></li>")).collect();
    let page = read_page(&framed(&format!("<ul>{links}</ul>")), ADDRESS).unwrap();
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
    let page = read_page(&framed(&posts), ADDRESS).unwrap();
    assert!(page.markdown.contains("user0") && page.markdown.contains("Answer 8"), "{page:?}");

    let html = framed(&format!("<article>{}</article>{posts}", paragraphs(12)));
    let page = read_page(&html, ADDRESS).unwrap();
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
    let page = read_page(&html, ADDRESS).unwrap();
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
    let page = read_page(&html, ADDRESS).unwrap();
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
    let page = read_page(&html, ADDRESS).unwrap();
    assert!(page.markdown.contains("3: The ferry"), "{page:?}");
    let page = read_page(&framed(&(paragraphs(4) + form)), ADDRESS).unwrap();
    assert!(!page.markdown.contains("every week"), "{page:?}");
}

#[test]
fn text_without_spaces_is_not_taken_for_a_shell() {
    let html = format!(
        "<html><head><script src=a.js></script></head><body><p>{}</p></body></html>",
        "船は七時に港を出る。".repeat(20)
    );
    assert_eq!(read_page(&html, ADDRESS).unwrap().script_need, ScriptNeed::None);
}

#[test]
fn the_bytes_of_a_picture_are_not_told() {
    let html =
        framed(&(paragraphs(3) + "<img alt=Dot src='data:image/gif;base64,R0lGODlhAQABAAA='>"));
    assert!(!read_page(&html, ADDRESS).unwrap().markdown.contains("base64"));
}

/// A page as site generators and content systems write it: a counter of visitors, data for search
/// engines, and a picture for browsers without scripts.
fn counted(body: &str) -> String {
    format!(
        "<!doctype html><html><head><title>Harbour café</title>\
         <script async src='https://counter.example.com/tag.js?id=G-1'></script>\
         <script>window.dataLayer = window.dataLayer || []; dataLayer.push(['config', 'G-1']);</script>\
         <script type=application/ld+json>{{\"@type\": \"CafeOrCoffeeShop\"}}</script></head><body>{body}\
         <noscript><img height=1 width=1 src='https://counter.example.com/javascript-enabled.gif'></noscript>\
         </body></html>"
    )
}

#[test]
fn short_pages_with_scripts_are_complete_without_them() {
    let words = "<h1>Harbour café</h1><p>Open daily from nine to five. Closed on Mondays.</p>";
    let pages = [
        counted(words),
        counted("<p>Hello, world!</p>"),
        counted(&format!("<div id=app>{words}</div>")),
        counted(&format!(
            "<main>{words}</main><div id=comments><noscript>Please enable JavaScript to \
                          view the comments.</noscript></div>"
        )),
        counted("<h1>JavaScript: the good parts</h1><p>Used, 12 EUR. All you need.</p>"),
        counted("<p>Loading dock: open daily from nine to five.</p>"),
        counted(&format!(
            "<noscript>This app works best with JavaScript enabled.</noscript>\
                          <div id=___gatsby>{words}</div>"
        )),
    ];
    for html in pages {
        let page = read_page(&html, ADDRESS).unwrap();
        assert_eq!((page.script_need, page.is_bare), (ScriptNeed::Possible, false), "{page:?}");
    }
    let data = format!(
        "<html><head><title>A</title><script type=application/ld+json>{{}}</script></head>\
         <body>{words}</body></html>"
    );
    assert_eq!(read_page(&data, ADDRESS).unwrap().script_need, ScriptNeed::None);
    let bare = "<html><body><h1>Hi</h1><p>Short, and complete.</p></body></html>";
    assert_eq!(read_page(bare, ADDRESS).unwrap().script_need, ScriptNeed::None);
}

#[test]
fn frames_that_scripts_fill_are_recognised() {
    let frames = [
        // As the generators of React, Vue, Angular, Next and Nuxt applications write them.
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. \
         Please enable it to continue.</strong></noscript><div id=app></div><!-- built files -->",
        "<app-root></app-root>",
        "<div id=__next> <div class=spinner></div> <script>start()</script> </div>",
        "<div id=__nuxt><!-- --></div><p>A shop for boats.</p>",
        // Elements with other names.
        "<div id=mount></div>",
        "<div class=page><div class=loader>Loading…</div></div>",
        "<p>Please wait...</p>",
        "<div id=main><p>This site requires JavaScript. Please turn it on.</p></div>",
        "<header><nav><a href=/>Home</a></nav></header><main id=content></main>",
        "<div id=shop><p>Boats &amp; sails</p></div><noscript>Please enable JavaScript.</noscript>",
    ];
    for frame in frames {
        let page = read_page(&counted(frame), ADDRESS).unwrap();
        assert_eq!(page.script_need, ScriptNeed::Certain, "{frame}: {page:?}");
    }
    let filled = counted(&format!("<div id=root>{}</div>", paragraphs(4)));
    assert_eq!(read_page(&filled, ADDRESS).unwrap().script_need, ScriptNeed::None);
}

#[test]
fn pages_that_say_nothing_after_their_scripts_have_run_are_bare() {
    for (body, is_bare) in [
        ("<div id=root></div>", true),
        ("<div>Loading…</div>", true),
        ("<noscript>Please enable JavaScript.</noscript><p>Boats &amp; sails</p>", false),
        ("<p>It opens at nine.</p>", false),
    ] {
        assert_eq!(read_page(&counted(body), ADDRESS).unwrap().is_bare, is_bare, "{body}");
    }
}

#[test]
fn a_page_may_say_where_its_markdown_lies() {
    let html = "<html><head><link rel=alternate type=text/markdown href=/page.md></head>\
                <body><p>x</p></body></html>";
    assert_eq!(read_page(html, ADDRESS).unwrap().alternate.as_deref(), Some("/page.md"));
}

#[test]
fn pages_that_are_nested_without_end_are_refused_and_not_walked() {
    let html = format!("<html><body>{}x", "<div>".repeat(100_000));
    assert!(read_page(&html, ADDRESS).is_err());
    let list = format!("<html><body><ul>{}</ul>", "<li>item".repeat(5_000));
    assert!(read_page(&list, ADDRESS).is_ok(), "items that nobody closed are not nested");
}

#[test]
fn no_bytes_make_a_reader_fall() {
    for html in ["", "<", "<!--", "<html", "&#xFFFFFFFF;", "<svg><script>", "<table><p><td>\0"] {
        let _ = read_page(html, ADDRESS);
    }
}
