//! Sample music jobs, which the service processes when it runs.

use std::path::Path;
use std::sync::Arc;

use config::sections::media::MediaConfig;
use control::secrets::{SecretName, read_or_create_secret};
use control::service::ControlService;
use domain::entropy::request_id;
use engine::{MediaRequest, MusicRequest};
use jobs::{JobQueue, LinkSecret, NewJob, QueueDependencies, QueueSettings};
use ledger::{ChargeLine, WorkCharge};
use money::{Price, PriceUnits, UnitRate};
use store::job::JobKind;
use store::usage::UsageDetails;

use super::to_demo_error;
use crate::failure::CommandError;
use crate::serve::queue::open_media;

const MODEL: &str = "composer";
const PRICE_USD: &str = "0.0001";
const SECONDS: u64 = 12;
const PROMPTS: [&str; 3] =
    ["slow piano in the rain", "calm lo-fi hip hop beat", "bright folk guitar"];

/// Queues a few pieces and holds their price, on behalf of a key.
pub(super) async fn add_sample_jobs(
    service: &ControlService,
    secret_key: &str,
    data_dir: &Path,
    media: &MediaConfig,
) -> Result<(), CommandError> {
    let links =
        read_or_create_secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Links)
            .await?;
    let parts = QueueDependencies {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        media: open_media(data_dir, media)?,
        engine_of: Arc::new(|_| None),
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        links: LinkSecret(links),
    };
    let jobs = JobQueue::new(parts, QueueSettings::default());
    let holder = service.keys.authenticate(secret_key).await.map_err(to_demo_error)?;
    for (seed, prompt) in (1..).zip(PROMPTS) {
        let price = Price::parse(PRICE_USD, PriceUnits::One).map_err(to_demo_error)?;
        let line = ChargeLine {
            sku: format!("{MODEL}-second"),
            units: SECONDS,
            rate: UnitRate::at_par(price),
            per: PriceUnits::One,
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
            charge: WorkCharge {
                lines: vec![line],
                model: MODEL.to_owned(),
                details: UsageDetails { request_id: id.clone(), ..UsageDetails::default() },
                notes: "API Inference".to_owned(),
            },
            request_id: id,
            alternative: None,
            has_link: false,
        };
        jobs.add(new, |_| Vec::new()).await.map_err(to_demo_error)?;
    }
    Ok(())
}
