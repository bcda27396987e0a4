//! Pages of merge requests: all of them, and what changed.

use super::super::checkout::finish;
use super::super::http::Answer;
use super::super::mark::{Mark, page_number};
use super::{GitlabHost, PAGE, Project};
use crate::hosts::fields::{at, text};
use crate::links::{LinkContext, LinkFlavour};
use async_trait::async_trait;
use atlas_core::{CodeHost, Error, RunContext, SkippedPullRequest, SourcedPage};
use serde_json::Value;

/// The order of a first reading, and that of changes.
const OLDEST: &str = "order_by=created_at&sort=asc";
const LATEST: &str = "order_by=updated_at&sort=desc";

/// The mark of a list of the latest changes.
fn mark(project: &Project, answer: &Answer) -> Mark {
    let listed = || answer.value.as_array().into_iter().flatten();
    let updated = listed().filter_map(|told| at(told, "updated_at")).max();
    let latest = listed().filter(|told| at(told, "updated_at") == updated);
    let said = |told: &Value| {
        let words = text(told, "updated_at")?.to_owned();
        Some((told.get("iid")?.as_u64()?, words))
    };
    Mark {
        repo: project.path.clone(),
        latest: latest.filter_map(said).collect(),
        updated: updated.unwrap_or_default(),
        ..Mark::default()
    }
}

impl GitlabHost {
    /// A page of the list of merged merge requests.
    async fn list_page(
        &self,
        cx: &RunContext,
        project: &Project,
        order: &str,
        number: u32,
    ) -> Result<Option<Answer>, Error> {
        let rest = format!("/merge_requests?state=merged&{order}&per_page={PAGE}&page={number}");
        self.get(cx, self.url(&project.path, &rest)?).await
    }

    /// Takes one of a list.
    async fn take(
        &self,
        cx: &RunContext,
        project: &Project,
        listed: &Value,
        page: &mut SourcedPage,
    ) -> Result<(), Error> {
        cx.check("source pull requests")?;
        let context = LinkContext {
            flavour: LinkFlavour::Gitlab,
            host: self.host.clone(),
            repo: project.path.clone(),
        };
        match self.merge_request(cx, project, &context, listed).await? {
            Ok(told) => page.pull_requests.push(told),
            Err(reason) => {
                let iid = listed
                    .get("iid")
                    .and_then(Value::as_u64)
                    .unwrap_or_default();
                let name = format!("{}!{iid}", project.path);
                page.skipped.push(SkippedPullRequest { name, reason });
            }
        }
        Ok(())
    }
}

#[async_trait]
impl CodeHost for GitlabHost {
    fn name(&self) -> String {
        format!("gitlab {} {}", self.api.address(), self.project)
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let number = page_number(cursor)?;
        let project = self.project(cx).await?;
        let mut page = SourcedPage::default();
        // What changes while the pages are read is found by the next reading: the mark is older than all of them.
        if cursor.is_none()
            && let Some(answer) = self.list_page(cx, project, LATEST, 1).await?
        {
            page.total = answer.total;
            page.mark = Some(mark(project, &answer).text());
        }
        if let Some(answer) = self.list_page(cx, project, OLDEST, number).await? {
            for listed in answer.value.as_array().into_iter().flatten() {
                self.take(cx, project, listed, &mut page).await?;
            }
            page.next = answer.next.map(|_| (number + 1).to_string());
        }
        finish(cx, self.checkout.as_ref(), &project.facts, &mut page).await?;
        page.requests = self.api.requests() - before;
        Ok(page)
    }

    async fn changes(
        &self,
        cx: &RunContext,
        since: &str,
        cursor: Option<&str>,
    ) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let (since, number) = (Mark::read(since)?, page_number(cursor)?);
        let project = self.project(cx).await?;
        if let Some(why) = since.moved(&project.path) {
            let page = SourcedPage::anew(why);
            let requests = self.api.requests() - before;
            return Ok(SourcedPage { requests, ..page });
        }
        let mut page = SourcedPage::default();
        if let Some(answer) = self.list_page(cx, project, LATEST, number).await? {
            if number == 1 {
                page.total = answer.total;
                page.mark = Some(mark(project, &answer).text());
            }
            let mut more = true;
            for listed in answer.value.as_array().into_iter().flatten() {
                more = at(listed, "updated_at").is_none_or(|updated| since.reaches(&updated));
                if !more {
                    break;
                }
                let iid = listed
                    .get("iid")
                    .and_then(Value::as_u64)
                    .unwrap_or_default();
                // The host's clock has parts of a second: what says the same was not changed.
                let known = since.latest.get(&iid).map(String::as_str);
                if known.is_none() || known != text(listed, "updated_at") {
                    self.take(cx, project, listed, &mut page).await?;
                }
            }
            let next = answer.next.filter(|_| more);
            page.next = next.map(|_| (number + 1).to_string());
        }
        finish(cx, self.checkout.as_ref(), &project.facts, &mut page).await?;
        page.requests = self.api.requests() - before;
        Ok(page)
    }
}
