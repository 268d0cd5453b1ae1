import { type OAuthClientMetadataInput, oauthClientMetadataSchema } from '@atproto/oauth-client-node'

/** The one right that log-in asks for: to write queue records as the person, and nothing else. */
export const logInScope = 'atproto repo:dev.knotless.queue?action=create'

/** What it asks for beside that once an owner wants to change settings of a repository: to write their repository records. */
export const repositoryScope = 'repo:dev.knotless.repo?action=create&action=update'

/** What it asks for beside that once somebody wants runs again: to write such requests (RUN-6). */
export const rerunScope = 'repo:dev.knotless.rerun?action=create'

/** What it asks for beside that once somebody wants to close or reopen a pull here: to write states of pulls (HON-6). */
export const stateScope = 'repo:dev.knotless.state?action=create'

/** What it asks for beside that once an author wants to say here whether a pull is a draft: to edit their pulls. A put needs both actions. */
export const pullScope = 'repo:dev.knotless.pull?action=create&action=update'

/** What further rights are called in addresses. */
export const furtherRights = ['repository', 'rerun', 'state', 'pull'] as const

/** Each further right by its name. */
export const furtherScopes: Readonly<Record<(typeof furtherRights)[number], string>> = {
  repository: repositoryScope,
  rerun: rerunScope,
  state: stateScope,
  pull: pullScope,
}

/**
 * What a delegation asks for (GWY-1): to write git states and merged states, and requeues; and to upload packs, which is a right of its own. A put
 * may create, so that it needs both actions.
 */
export const delegationScope = [
  'atproto',
  'repo:dev.knotless.refs?action=create&action=update',
  'repo:dev.knotless.state?action=create',
  'repo:dev.knotless.queue?action=create',
  'blob:application/octet-stream',
].join(' ')

/** Paths at which the clients' documents are served, off loopback. */
export const metadataPath = '/oauth-client-metadata.json'
export const delegationMetadataPath = '/oauth-delegation-metadata.json'
export const jwksPath = '/oauth/jwks.json'

/**
 * What the OAuth client says of itself. Off loopback it is a confidential client, known by the address of this very document; on loopback
 * it is atproto's public loopback client, whose grants end after two weeks.
 */
export function clientMetadata(options: {
  publicUrl: string
  loopback: boolean
  scope: string
  callbackPath: string
  metadataPath: string
}): OAuthClientMetadataInput {
  const { publicUrl, scope } = options
  const redirect = `${publicUrl}${options.callbackPath}`
  const common = {
    redirect_uris: [redirect],
    scope,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    dpop_bound_access_tokens: true,
    client_name: 'knotless',
    client_uri: publicUrl,
  }
  if (options.loopback) {
    return oauthClientMetadataSchema.parse({
      ...common,
      client_id: `http://localhost?redirect_uri=${encodeURIComponent(redirect)}&scope=${encodeURIComponent(scope)}`,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
    })
  }
  return oauthClientMetadataSchema.parse({
    ...common,
    client_id: `${publicUrl}${options.metadataPath}`,
    application_type: 'web',
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks_uri: `${publicUrl}${jwksPath}`,
  })
}
