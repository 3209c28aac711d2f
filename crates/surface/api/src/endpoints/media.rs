//! `GET` and `DELETE /media/{id}`: downloads or revokes a signed link, without a credential.

use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{PathParameters, QueryParameters, RangeHeader};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::reply::media::{FileReply, LinkedFile};
use moment::Timestamp;
use store::job::{JobState, QueuedJob};
use uuid::Uuid;
use wire::audio::Completed;
use wire::video::{LinkPath, LinkQuery};

use jobs::LinkFault;

const PATH: &str = "/media/{id}";

pub(super) fn download_endpoint() -> ApiEndpoint {
    EndpointBuilder::get(PATH, download_media)
        .tag("Video")
        .summary("Download a generated file by its link")
        .build()
}

pub(super) fn revoke_endpoint() -> ApiEndpoint {
    EndpointBuilder::delete(PATH, revoke_media)
        .tag("Video")
        .summary("Revoke a link")
        .refuses(404, "There is no such link")
        .refuses(410, "The link has expired or was revoked")
        .build()
}

type Link = (PathParameters<LinkPath>, QueryParameters<LinkQuery>);

async fn download_media(
    app: SharedApp,
    call: ApiCall<AnyCaller, (Link, RangeHeader)>,
) -> Result<LinkedFile, Refusal> {
    let ((PathParameters(path), QueryParameters(query)), wanted) = call.input;
    let job = find_linked_job(&app, path, query, call.now).await?;
    if job.is_link_revoked {
        return Err(Refusal::gone("This link was revoked."));
    }
    match job.state {
        JobState::Completed => {}
        JobState::Queued | JobState::Running | JobState::Unknown => {
            let message =
                "The video is not ready yet. POST /api/v1/video/retrieve returns the progress.";
            return Err(Refusal::not_found("Not ready", message));
        }
        JobState::Failed | JobState::Rejected => {
            let message = "The video job failed. POST /api/v1/video/retrieve returns the reason.";
            return Err(Refusal::gone(message));
        }
    }
    let media = app.jobs.find_media(&job).await.map_err(Refusal::unavailable)?;
    let media = media.ok_or_else(|| Refusal::gone("The video was deleted."))?;
    let part =
        wanted.resolve_range(media.bytes).map_err(|_| Refusal::no_such_bytes(media.bytes))?;
    let is_part = part.is_some();
    let range = part.unwrap_or(0..media.bytes);
    let opened = app.jobs.open(media, range).map_err(Refusal::unavailable)?;
    let name = job.id.0.to_string();
    Ok(LinkedFile(Box::new(FileReply { opened, name, is_part, afterwards: None })))
}

async fn revoke_media(
    app: SharedApp,
    call: ApiCall<AnyCaller, Link>,
) -> Result<WithHeaders<Completed>, Refusal> {
    let (PathParameters(path), QueryParameters(query)) = call.input;
    let job = find_linked_job(&app, path, query, call.now).await?;
    app.jobs.revoke_link(&job).await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(Completed { success: true }))
}

/// The job of a valid link that has not expired.
async fn find_linked_job(
    app: &AppState,
    path: LinkPath,
    query: LinkQuery,
    now: Timestamp,
) -> Result<QueuedJob, Refusal> {
    let unknown = || Refusal::not_found("Link not found", "There is no such link.");
    let id = Uuid::try_parse(&path.id).map_err(|_| unknown())?;
    let opened = app.jobs.link_secret().open(id, query.expires, &query.signature, now);
    let id = opened.map_err(|fault| match fault {
        LinkFault::Forged => unknown(),
        LinkFault::Expired => Refusal::gone("This link has expired."),
    })?;
    let job = app.jobs.find(id).await.map_err(Refusal::unavailable)?;
    job.filter(|job| job.has_link).ok_or_else(|| Refusal::gone("The video was deleted."))
}
