// What a program that imports this library needs of other rooms, so that it imports this one alone.

@_exported public import enum BrokerModel.Accessibility
@_exported public import enum BrokerModel.DeviceState
@_exported public import struct Sodium.Secret
@_exported public import class Sodium.SharedSecret
