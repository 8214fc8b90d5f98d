// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/route.h"

namespace assay::api {

/// One function a route, in one file a resource. Each reads the request into the contract's types, calls one service in
/// the caller's exact scope, and writes the reply. Errors are problem documents to be; nothing here looks at roles. May
/// block; any thread.

// skills.cpp
Result<Reply> listSkills(const Services& services, Request& request);
Result<Reply> createSkill(const Services& services, Request& request);
Result<Reply> putSkill(const Services& services, Request& request);
Result<Reply> patchSkill(const Services& services, Request& request);
Result<Reply> getSkill(const Services& services, Request& request);
Result<Reply> deleteSkill(const Services& services, Request& request);
Result<Reply> validateSkill(const Services& services, Request& request);

// revisions.cpp
Result<Reply> listRevisions(const Services& services, Request& request);
Result<Reply> getRevision(const Services& services, Request& request);
Result<Reply> listRevisionFiles(const Services& services, Request& request);
Result<Reply> getRevisionFile(const Services& services, Request& request);
Result<Reply> getArchive(const Services& services, Request& request);
Result<Reply> promoteRevision(const Services& services, Request& request);
Result<Reply> withdrawRevision(const Services& services, Request& request);

Result<Reply> listPromotions(const Services& services, Request& request);

// comparison.cpp
Result<Reply> getDiff(const Services& services, Request& request);
Result<Reply> getCapabilities(const Services& services, Request& request);

// proposals.cpp
Result<Reply> listProposals(const Services& services, Request& request);
Result<Reply> getProposal(const Services& services, Request& request);
Result<Reply> acknowledgeProposal(const Services& services, Request& request);
Result<Reply> startTestRuns(const Services& services, Request& request);
Result<Reply> promoteProposal(const Services& services, Request& request);
Result<Reply> withdrawProposal(const Services& services, Request& request);
Result<Reply> listViewed(const Services& services, Request& request);
Result<Reply> putViewed(const Services& services, Request& request);
Result<Reply> deleteViewed(const Services& services, Request& request);

// proposal_talk.cpp
Result<Reply> listComments(const Services& services, Request& request);
Result<Reply> createComment(const Services& services, Request& request);
Result<Reply> patchComment(const Services& services, Request& request);
Result<Reply> deleteComment(const Services& services, Request& request);
Result<Reply> listReviews(const Services& services, Request& request);
Result<Reply> createReview(const Services& services, Request& request);
Result<Reply> deleteVerdict(const Services& services, Request& request);
Result<Reply> resolveThread(const Services& services, Request& request);

// samples.cpp
Result<Reply> listSamples(const Services& services, Request& request);
Result<Reply> getSample(const Services& services, Request& request);
Result<Reply> putSample(const Services& services, Request& request);
Result<Reply> deleteSample(const Services& services, Request& request);
Result<Reply> createComparison(const Services& services, Request& request);
Result<Reply> getComparison(const Services& services, Request& request);

// stops.cpp
Result<Reply> listStops(const Services& services, Request& request);
Result<Reply> createStop(const Services& services, Request& request);
Result<Reply> getStop(const Services& services, Request& request);
Result<Reply> deleteStop(const Services& services, Request& request);

// agents.cpp
Result<Reply> listAgents(const Services& services, Request& request);
Result<Reply> createAgent(const Services& services, Request& request);
Result<Reply> putAgent(const Services& services, Request& request);
Result<Reply> getAgent(const Services& services, Request& request);
Result<Reply> deleteAgent(const Services& services, Request& request);
Result<Reply> listAgentRevisions(const Services& services, Request& request);

// runs.cpp
Result<Reply> listRuns(const Services& services, Request& request);
Result<Reply> startRun(const Services& services, Request& request);
Result<Reply> getRun(const Services& services, Request& request);
Result<Reply> getManifest(const Services& services, Request& request);
Result<Reply> getRunEvents(const Services& services, Request& request);
Result<Reply> listRunSkillFiles(const Services& services, Request& request);
Result<Reply> getRunSkillFile(const Services& services, Request& request);
Result<Reply> cancelRun(const Services& services, Request& request);
Result<Reply> finishRun(const Services& services, Request& request);

// commands.cpp
Result<Reply> startCommand(const Services& services, Request& request);
Result<Reply> getCommand(const Services& services, Request& request);
Result<Reply> getCommandStdout(const Services& services, Request& request);
Result<Reply> getCommandStderr(const Services& services, Request& request);

// artifacts.cpp
Result<Reply> listArtifacts(const Services& services, Request& request);
Result<Reply> getArtifact(const Services& services, Request& request);
Result<Reply> getArtifactContent(const Services& services, Request& request);

// audit.cpp
Result<Reply> listAudit(const Services& services, Request& request);
Result<Reply> exportAudit(const Services& services, Request& request);
Result<Reply> verifyAudit(const Services& services, Request& request);

// tokens.cpp
Result<Reply> listTokens(const Services& services, Request& request);
Result<Reply> createToken(const Services& services, Request& request);
Result<Reply> getToken(const Services& services, Request& request);
Result<Reply> deleteToken(const Services& services, Request& request);

// collections.cpp
Result<Reply> runCollection(const Services& services, Request& request);

// scopes.cpp
Result<Reply> getOwnScope(const Services& services, Request& request);
Result<Reply> getScope(const Services& services, Request& request);
Result<Reply> patchScope(const Services& services, Request& request);

// server.cpp
Result<Reply> getHealth(const Services& services, Request& request);
Result<Reply> runHandshake(const Services& services, Request& request);
Result<Reply> getServer(const Services& services, Request& request);
Result<Reply> getLive(const Services& services, Request& request);
Result<Reply> getReady(const Services& services, Request& request);
Result<Reply> getOpenApi(const Services& services, Request& request);

} // namespace assay::api
