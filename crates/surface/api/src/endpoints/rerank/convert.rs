//! Converts between the API's reranking and the engine's.

use std::sync::Arc;

use domain::catalogue::RerankSpec;
use engine::{RerankRequest, TokenEstimator};
use http_frame::paid_work::PaidResult;
use http_frame::payment;
use http_frame::refusal::Refusal;
use schema_check::{PathStep, ValidationFaults};
use wire::embeddings::EmbeddingUsage;
use wire::rerank as wire_rerank;
use wire_rerank::{
    RerankApiVersion, RerankBilledUnits, RerankDocument, RerankList, RerankMeta, RerankResult,
    RerankText, RerankTokens,
};

use crate::endpoints::read_tokens::ReadTokens;

/// Upper bound per document for tokens that tokenizers and the templates of models add: the longest
/// template, of Qwen3-Reranker, has about 80.
const TOKENS_AROUND: u64 = 128;
/// The version of Cohere's API whose form the response has.
const API_VERSION: &str = "2";

/// A checked request, with its tokens.
pub(super) struct RerankOrder {
    pub(super) request: Arc<RerankRequest>,
    pub(super) tokens: ReadTokens,
    pub(super) documents: u64,
}

/// The requested results.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyOptions {
    results_max: usize,
    returns_documents: bool,
}

impl ReplyOptions {
    pub(super) fn from_body(body: &wire_rerank::RerankRequest) -> ReplyOptions {
        let top_n = body.top_n.map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        ReplyOptions {
            results_max: top_n.unwrap_or(usize::MAX),
            returns_documents: body.return_documents == Some(true),
        }
    }
}

/// The engine's scores, in the order of the documents, and the billed tokens.
pub(super) struct RankedDocuments {
    pub(super) scores: Vec<f64>,
    pub(super) tokens: u64,
}

/// The names in a response.
pub(super) struct ReplyHead {
    pub(super) id: String,
    pub(super) model: String,
}

/// Checks the fields against the model, cuts documents if that was requested, and counts tokens.
pub(super) fn build_order(
    body: wire_rerank::RerankRequest,
    spec: &RerankSpec,
) -> Result<RerankOrder, Refusal> {
    let documents_total = widen_count(body.documents.len());
    let mut faults = ValidationFaults::default();
    let query = ReadTokens::from_text(&body.query);
    let is_query_long = spec.max_input_tokens <= query.estimate;
    if is_query_long {
        let message = format!(
            "The query and a document have at most {} tokens together; the query alone has about {}",
            spec.max_input_tokens, query.estimate
        );
        faults.at(["query"]).push(message);
    }
    if body.relevant_spans.is_some() {
        faults.at(["relevant_spans"]).push("Spans are not supported; leave the field out");
    }
    if spec.max_documents < documents_total {
        let message = format!("This model takes at most {} documents", spec.max_documents);
        faults.at(["documents"]).push(message);
        return Err(Refusal::invalid_request(&faults));
    }
    let mut tokens = ReadTokens::default();
    let mut documents = Vec::with_capacity(body.documents.len());
    for (index, document) in body.documents.into_iter().enumerate() {
        let text = match document {
            RerankDocument::Text(text) | RerankDocument::Object(RerankText { text }) => text,
        };
        let text = match body.max_tokens_per_doc {
            Some(tokens_max) => cut_text(text, tokens_max),
            None => text,
        };
        let pair = query.plus(ReadTokens::from_text(&text));
        if !is_query_long && spec.max_input_tokens < pair.estimate {
            let message = format!(
                "The query and a document have at most {} tokens together, these about {}; send \
                 `max_tokens_per_doc` to have long documents cut",
                spec.max_input_tokens, pair.estimate
            );
            faults.at([PathStep::from("documents"), index.into()]).push(message);
        }
        tokens = tokens.plus(pair.with_room(TOKENS_AROUND));
        documents.push(text);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let truncate = body.max_tokens_per_doc.is_some();
    let request = Arc::new(RerankRequest { query: body.query, documents, truncate });
    Ok(RerankOrder { request, tokens, documents: documents_total })
}

/// Cuts a text to this many tokens by our estimate, but not to nothing.
fn cut_text(text: String, tokens_max: u64) -> String {
    if engine::text_tokens(&text) <= tokens_max {
        return text;
    }
    let mut meter = TokenEstimator::default();
    let mut utf8 = [0; 4];
    for (position, letter) in text.char_indices() {
        meter.push(letter.encode_utf8(&mut utf8));
        if tokens_max < meter.estimated_tokens() && 0 < position {
            return text.get(..position).unwrap_or(&text).to_owned();
        }
    }
    text
}

/// The results, the highest score first. Of equal scores, the earlier document is first.
pub(super) fn build_reply(
    head: ReplyHead,
    order: &RerankOrder,
    paid: PaidResult<RankedDocuments>,
    options: ReplyOptions,
) -> RerankList {
    let RankedDocuments { scores, tokens } = paid.output;
    let mut ranked: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ranked.truncate(options.results_max);
    let result = |(index, relevance_score): (usize, f64)| {
        let text = order.request.documents.get(index).filter(|_| options.returns_documents);
        let document = text.map(|text| RerankText { text: text.clone() });
        RerankResult { index, relevance_score, document }
    };
    RerankList {
        id: head.id,
        model: head.model,
        results: ranked.into_iter().map(result).collect(),
        meta: RerankMeta {
            api_version: RerankApiVersion { version: API_VERSION },
            billed_units: RerankBilledUnits { input_tokens: tokens, documents: order.documents },
            tokens: RerankTokens { input_tokens: tokens, output_tokens: 0 },
        },
        usage: EmbeddingUsage { prompt_tokens: tokens, total_tokens: tokens },
        cost: payment::to_cost(&paid.receipt),
    }
}

fn widen_count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_not_to_nothing() {
        let words = "one two three four five six seven eight nine ten".to_owned();
        assert_eq!(cut_text(words.clone(), 1_000), words);
        let cut = cut_text(words.clone(), 4);
        assert!(words.starts_with(&cut) && cut.len() < words.len(), "{cut}");
        assert!(engine::text_tokens(&cut) <= 4, "{cut}");
        assert_eq!(cut_text("日".repeat(9), 1).chars().next(), Some('日'));
    }
}
