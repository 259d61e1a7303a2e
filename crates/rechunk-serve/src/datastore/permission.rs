//! Rights of requests.

use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::failure::Failure;
use super::state::Face;
use crate::tokens::{Role, Token};

/// Says where a request comes from, in browsers.
const FETCH_SITE: &str = "sec-fetch-site";

impl Face {
    /// Refuses a request whose token does not have `role` for a data set, or for all of them if
    /// none is named. Changes are refused where nothing may be changed, and to pages of other
    /// sites: a link there would be followed with the rights of whoever looks at the page. Returns
    /// the name of the token.
    pub(super) async fn permit(
        &self,
        headers: &HeaderMap,
        role: Role,
        dataset: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let token = self.identify(headers, role, dataset).await?;
        let who = token.map(|token| token.name);
        if role == Role::Read {
            return Ok(who);
        }
        if !self.datastore.is_writable() {
            let reason = "this datastore is read only";
            return Err(Failure::new(StatusCode::FORBIDDEN, reason));
        }
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            let reason = "pages of other sites change nothing here";
            return Err(Failure::new(StatusCode::FORBIDDEN, reason));
        }
        Ok(who)
    }

    async fn identify(
        &self,
        headers: &HeaderMap,
        role: Role,
        dataset: Option<&str>,
    ) -> Result<Option<Token>, Failure> {
        let Some(tokens) = &self.options.tokens else { return Ok(None) };
        let Some(sent) = sent_token(headers) else {
            let reason = "a token is needed: Authorization: Bearer …";
            return Err(Failure::new(StatusCode::UNAUTHORIZED, reason));
        };
        let known = tokens.current().await.map_err(|error| {
            tracing::error!(%error, "the tokens cannot be read");
            let reason = "tokens cannot be checked now";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason)
        })?;
        let Some(token) = known.find(sent) else {
            return Err(Failure::new(StatusCode::FORBIDDEN, "this token is not known"));
        };
        if !token.may(role, dataset) {
            let reason = "this token does not allow it";
            return Err(Failure::new(StatusCode::FORBIDDEN, reason));
        }
        Ok(Some(token.clone()))
    }

    /// Tells of names of data sets whether the token of a request may read them.
    pub(super) async fn seen_datasets(
        &self,
        headers: &HeaderMap,
    ) -> Result<impl Fn(&str) -> bool + use<>, Failure> {
        let token = self.identify(headers, Role::Read, None).await?;
        Ok(move |name: &str| token.as_ref().is_none_or(|token| token.may(Role::Read, Some(name))))
    }

    /// The name of the token that was sent, if it is a known one.
    pub(super) async fn token_name(&self, headers: &HeaderMap) -> Option<String> {
        let (tokens, sent) = (self.options.tokens.as_ref()?, sent_token(headers)?);
        let known = tokens.current().await.ok()?;
        known.find(sent).map(|token| token.name.clone())
    }
}

fn sent_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
