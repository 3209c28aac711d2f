//! Reranking by servers that have `/rerank` in addition to OpenAI's endpoints: vLLM, llama.cpp,
//! Infinity, SGLang, and services with the format of Cohere or Jina.

use std::sync::Arc;

use engine::{EngineError, EngineUsage, RerankAnswer, RerankEngine, RerankRequest};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::UpstreamFailure;
use crate::rank_scores::{RankedEntry, collect_scores, read_only_usage};
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One rerank model behind one server.
pub(crate) struct OpenAiRerank {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) model: String,
}

impl RerankEngine for OpenAiRerank {
    fn rerank(
        &self,
        request: Arc<RerankRequest>,
    ) -> BoxFuture<'_, Result<RerankAnswer, EngineError>> {
        Box::pin(async move {
            let body = encode_rerank(&request, &self.model)?;
            read_ranking(&self.endpoint.post_json(body).await?, request.documents.len())
        })
    }
}

/// Has no `top_n`: all scores are needed for validation, and the results are truncated here.
#[derive(Serialize)]
struct RerankRequestBody<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
}

pub(crate) fn encode_rerank(request: &RerankRequest, model: &str) -> Result<Vec<u8>, EngineError> {
    let RerankRequest { query, documents, .. } = request;
    let body = RerankRequestBody { model, query, documents };
    serde_json::to_vec(&body).map_err(|error| EngineError::Rejected {
        message: format!("The documents cannot be written as JSON: {error}"),
    })
}

#[derive(Default, Deserialize)]
struct RankingBody {
    results: Option<Vec<RankedEntry>>,
    usage: Option<RankingUsage>,
    meta: Option<RankingMeta>,
    error: Option<Value>,
}

/// vLLM reports only the total.
#[derive(Deserialize)]
struct RankingUsage {
    total_tokens: Option<f64>,
    prompt_tokens: Option<f64>,
}

/// Cohere's object with the token counts.
#[derive(Deserialize)]
struct RankingMeta {
    tokens: Option<RankingTokens>,
}

#[derive(Deserialize)]
struct RankingTokens {
    input_tokens: Option<f64>,
}

impl RankingBody {
    fn read_usage(&self) -> Option<EngineUsage> {
        let usage = self.usage.as_ref().and_then(|it| it.total_tokens.or(it.prompt_tokens));
        let meta = self.meta.as_ref().and_then(|it| it.tokens.as_ref()?.input_tokens);
        usage.or(meta).and_then(read_only_usage)
    }
}

pub(crate) fn read_ranking(body: &[u8], documents: usize) -> Result<RerankAnswer, EngineError> {
    // SGLang sends the list alone.
    let is_list = body.trim_ascii_start().starts_with(b"[");
    let parsed = if is_list {
        let results = serde_json::from_slice(body).map(Some);
        results.map(|results| RankingBody { results, ..RankingBody::default() })
    } else {
        serde_json::from_slice(body)
    };
    let answer: RankingBody =
        parsed.map_err(|error| bad_answer(format!("it is not a ranking: {error}")))?;
    if let Some(error) = answer.error.as_ref().filter(|error| !error.is_null()) {
        return Err(UpstreamFailure::from_value(error).into_error());
    }
    let usage = answer.read_usage();
    let scores = collect_scores(answer.results.unwrap_or_default(), documents)?;
    Ok(RerankAnswer { scores, usage })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: &Value, scores: &[f64], tokens: Option<u64>) {
        let answer = read_ranking(body.to_string().as_bytes(), scores.len()).unwrap();
        assert_eq!(answer.scores, scores);
        assert_eq!(answer.usage, tokens.map(|it| EngineUsage::from_counts(it, 0)));
    }

    #[test]
    fn the_answer_of_each_server_is_read() {
        let text = |text| json!({"text": text});
        let vllm = json!({"id": "rerank-1", "model": "m", "usage": {"total_tokens": 56},
            "results": [{"index": 1, "document": text("b"), "relevance_score": 0.9},
                {"index": 0, "document": text("a"), "relevance_score": 0.0005}]});
        check(&vllm, &[0.0005, 0.9], Some(56));
        let llama = json!({"model": "m", "object": "list",
            "usage": {"prompt_tokens": 42, "total_tokens": 42},
            "results": [{"index": 0, "relevance_score": -7.5}]});
        check(&llama, &[-7.5], Some(42));
        let infinity = json!({"object": "rerank", "model": "m", "id": "infinity-1", "created": 1,
            "usage": {"prompt_tokens": 8, "total_tokens": 8},
            "results": [{"index": 0, "relevance_score": 0.1, "document": null}]});
        check(&infinity, &[0.1], Some(8));
        let sglang = json!([{"index": 0, "score": 0.3, "document": "a", "meta_info": {}}]);
        check(&sglang, &[0.3], None);
        let cohere = json!({"id": "x", "results": [{"index": 0, "relevance_score": 0.4}],
            "meta": {"billed_units": {"search_units": 1}, "tokens": {"input_tokens": 12}}});
        check(&cohere, &[0.4], Some(12));
    }

    #[test]
    fn what_is_no_ranking_is_refused() {
        let bodies: [&[u8]; 7] = [
            b"",
            b"{}",
            b"[]",
            b"{\"results\":null}",
            b"{\"results\":[{\"index\":0,\"relevance_score\":NaN}]}",
            b"{\"results\":[{\"index\":0,\"relevance_score\":1e999}]}",
            b"{\"results\":[{\"index\":-1,\"relevance_score\":1}]}",
        ];
        for body in bodies {
            let error = read_ranking(body, 1).unwrap_err();
            assert!(matches!(error, EngineError::BadAnswer { .. }), "{error:?}");
        }
    }
}
