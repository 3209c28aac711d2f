//! Citations in an answer, and the documents that it was given.

use serde_json::json;
use wire::chat::{Annotation, UrlCitation, WebSearchCitation};

/// Name of the tool call with the web results.
pub(super) const DOCUMENTS: &str = "service_web_search_documents";
const OPENS: &str = "[REF]";
const CLOSES: &str = "[/REF]";

/// The citations in a text, with their positions. Unknown source numbers are left out.
pub(super) fn find_annotations(text: &str, sources: &[WebSearchCitation]) -> Vec<Annotation> {
    let mut annotations = Vec::new();
    if sources.is_empty() {
        return annotations;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(OPENS).map(|at| from + at) {
        let inside = at + OPENS.len();
        let Some(end) = text[inside..].find(CLOSES).map(|end| inside + end) else { break };
        from = end + CLOSES.len();
        let cited = text[inside..end].split(',').filter_map(|it| it.trim().parse::<usize>().ok());
        for source in cited.filter_map(|number| sources.get(number)) {
            let place = |byte: usize| text[..byte].chars().count();
            let citation = UrlCitation {
                start_index: place(at),
                end_index: place(from),
                title: source.title.clone(),
                url: source.url.clone(),
            };
            annotations.push(Annotation { kind: "url_citation", url_citation: citation });
        }
    }
    annotations
}

/// The arguments of the tool call with the web results.
pub(super) fn encode_documents(sources: &[WebSearchCitation]) -> String {
    let documents: Vec<_> = sources
        .iter()
        .enumerate()
        .map(|(number, source)| {
            json!({
                "id": number.to_string(),
                "title": source.title,
                "url": source.url,
                "snippet": source.content.as_deref().unwrap_or_default(),
                "published_at": source.date,
            })
        })
        .collect();
    json!({ "documents": documents }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_found_by_letters_and_not_by_bytes() {
        let source = |title: &str| WebSearchCitation {
            title: title.to_owned(),
            url: format!("https://{title}.example/"),
            content: None,
            date: None,
        };
        let sources = [source("a"), source("b")];
        let text = "Käse[REF]1[/REF] und [REF]0, 1[/REF] [REF]7[/REF] [REF]x";
        let found: Vec<_> = find_annotations(text, &sources)
            .into_iter()
            .map(|it| {
                (it.url_citation.title, it.url_citation.start_index, it.url_citation.end_index)
            })
            .collect();
        assert_eq!(
            found,
            [("b".to_owned(), 4, 16), ("a".to_owned(), 21, 36), ("b".to_owned(), 21, 36)]
        );
        assert!(find_annotations(text, &[]).is_empty());
    }
}
