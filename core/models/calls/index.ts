export {
  callCounted,
  callHolds,
  callsOfRunOver,
  callSucceeded,
  cancelAtRuntime,
  endCall,
  endOpenCalls,
  expireCalls,
  issueCall,
  type IssuedCall,
} from './calls.ts';
