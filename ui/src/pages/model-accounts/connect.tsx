import { ApiKeyDialog } from './api-key.tsx';
import type { ConnectProps } from './connect-props.ts';
import { DeviceCodeDialog } from './device-code.tsx';
import { SignInDialog } from './sign-in.tsx';

/** Connects an account in the way of its provider. */
export function ConnectDialog(props: ConnectProps) {
  switch (props.provider.authType) {
    case 'device_code':
      return <DeviceCodeDialog {...props} />;
    case 'oauth':
      return <SignInDialog {...props} />;
    case 'api_key':
      return <ApiKeyDialog {...props} />;
    case 'managed':
      return null;
  }
}
