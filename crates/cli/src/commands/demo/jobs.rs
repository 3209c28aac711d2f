//! Sample music jobs, which the service processes when it runs.

use std::path::Path;
use std::sync::Arc;

use config::sections::media::Media;
use control::secrets::{SecretName, secret};
use control::service::Service;
use domain::entropy::request_id;
use engine::{MediaRequest, MusicRequest};
use jobs::{Jobs, LinkSecret, NewJob, Parts, Settings};
use ledger::{Charge, ChargeLine};
use money::{Per, Price, Rate};
use store::job::JobKind;
use store::usage::UsageDetails;

use super::describe;
use crate::failure::Failure;
use crate::serve::queue::open_media;

const MODEL: &str = "composer";
const PRICE_USD: &str = "0.0001";
const SECONDS: u64 = 12;
const PROMPTS: [&str; 3] =
    ["slow piano in the rain", "calm lo-fi hip hop beat", "bright folk guitar"];

/// Queues a few pieces and holds their price, on behalf of a key.
pub(super) async fn add(
    service: &Service,
    secret_key: &str,
    (data_dir, media): (&Path, &Media),
) -> Result<(), Failure> {
    let links = secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Links).await?;
    let parts = Parts {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        media: open_media(data_dir, media)?,
        engine_of: Arc::new(|_| None),
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        links: LinkSecret(links),
    };
    let jobs = Jobs::new(parts, Settings::default());
    let holder = service.keys.open(secret_key).await.map_err(describe)?;
    for (seed, prompt) in (1..).zip(PROMPTS) {
        let price = Price::parse(PRICE_USD, Per::One).map_err(describe)?;
        let line = ChargeLine {
            sku: format!("{MODEL}-second"),
            units: SECONDS,
            rate: Rate::at_par(price),
            per: Per::One,
        };
        let request = MusicRequest {
            prompt: prompt.to_owned(),
            duration_s: Some(SECONDS),
            is_instrumental: true,
            seed,
            ..MusicRequest::default()
        };
        let id = request_id(service.entropy.as_ref());
        let new = NewJob {
            payer: holder.payer(),
            kind: JobKind::Music,
            model: MODEL.to_owned(),
            request: MediaRequest::Music(request),
            charge: Charge {
                lines: vec![line],
                model: MODEL.to_owned(),
                details: UsageDetails { request_id: id.clone(), ..UsageDetails::default() },
                notes: "API Inference".to_owned(),
            },
            request_id: id,
            alternative: None,
            has_link: false,
        };
        jobs.add(new, |_| Vec::new()).await.map_err(describe)?;
    }
    Ok(())
}
